"""The Conversions API against the sandbox: what is sent, what counts once, and how a refusal reads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from connectors.errors import Refused, Revoked, Throttled, Transient
from connectors.meta_conversions import Conversion, Match, MetaConversions
from connectors.transport import Transport
from sandbox.faces import TOKENS
from sandbox.meta_conversions import pixel_of
from tests.fixtures.sandbox import RunningSandbox

ANN = Match(email="a" * 64, phone="b" * 64)


@pytest.fixture
def pixel(sandbox: RunningSandbox, transport: Transport) -> MetaConversions:
    at = pixel_of(sandbox.world.accounts[0].id)
    return MetaConversions(f"{sandbox.url}/meta", TOKENS["meta"], at, transport)


def sale(number: str = "one", **more: Any) -> Conversion:
    given: dict[str, Any] = {"type": "payment_received", "is_chat": False, "match": ANN}
    given |= {"occurred_at": datetime.now(UTC) - timedelta(hours=1), "value": Decimal("12.50"), "currency": "EUR"}
    return Conversion(id=number, **{**given, **more})


def test_an_event_carries_its_id_its_value_and_hashes_alone(sandbox: RunningSandbox, pixel: MetaConversions) -> None:
    assert pixel.send([sale()]) == 1
    (event,) = sandbox.pixel()["events"]
    assert (event["event_name"], event["event_id"], event["action_source"]) == ("Purchase", "one", "system_generated")
    assert event["custom_data"] == {"value": 12.5, "currency": "EUR"}
    assert event["user_data"] == {"em": ["a" * 64], "ph": ["b" * 64]}


def test_a_payment_whose_value_is_withheld_is_no_purchase(sandbox: RunningSandbox, pixel: MetaConversions) -> None:
    clicked = datetime(2026, 11, 1, tzinfo=UTC)
    pixel.send([sale(value=None, match=Match(click_id="AbC", clicked_at=clicked), is_chat=True)])
    (event,) = sandbox.pixel()["events"]
    assert (event["event_name"], event["action_source"]) == ("PaymentReceived", "chat")
    assert "custom_data" not in event
    assert event["user_data"] == {"fbc": "fb.1.1793491200000.AbC"}


def test_what_is_sent_twice_counts_once(sandbox: RunningSandbox, pixel: MetaConversions) -> None:
    pixel.send([sale("one"), sale("two")])
    pixel.send([sale("two"), sale("three")])
    state = sandbox.pixel()
    assert (state["requests"], state["received"], state["duplicates"]) == (2, 3, 1)


def test_a_test_event_counts_for_nothing(sandbox: RunningSandbox, pixel: MetaConversions) -> None:
    assert pixel.send([sale()], test_event_code="TEST1") == 1
    state = sandbox.pixel()
    assert (state["tests"], state["received"], state["events"]) == (1, 0, [])


@pytest.mark.parametrize(
    "bad",
    [
        sale(occurred_at=datetime.now(UTC) - timedelta(days=8)),
        sale(match=Match()),
        sale(match=Match(email="ann@example.com")),
    ],
    ids=["too old", "nobody", "not hashed"],
)
def test_one_bad_event_refuses_the_whole_request(
    sandbox: RunningSandbox, pixel: MetaConversions, bad: Conversion
) -> None:
    with pytest.raises(Refused) as refused:
        pixel.send([sale(), bad])
    assert refused.value.reason == "bad_parameter"
    assert "ann@example.com" not in str(refused.value)
    assert sandbox.pixel()["received"] == 0


def test_a_pixel_that_is_not_there_is_refused(sandbox: RunningSandbox, transport: Transport) -> None:
    nowhere = MetaConversions(f"{sandbox.url}/meta", TOKENS["meta"], "12", transport)
    with pytest.raises(Refused) as refused:
        nowhere.send([sale()])
    assert refused.value.reason == "not_found"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"kind": "revoked"}, Revoked),
        ({"kind": "throttled", "wait": 3600}, Throttled),
        ({"kind": "status", "status": 503, "times": None}, Transient),
    ],
    ids=["revoked", "throttled", "down"],
)
def test_a_platform_that_fails_is_told_by_its_kind(
    sandbox: RunningSandbox, pixel: MetaConversions, fault: dict[str, Any], kind: type[Exception]
) -> None:
    sandbox.plan({"route": "/events$", **fault})
    with pytest.raises(kind):
        pixel.send([sale()])
