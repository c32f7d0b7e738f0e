"""Asking the processor for a checkout: over the wire to the sandbox, with nothing of it in any text."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
import stripe

from api import billing, db
from api.models import Handoff
from sandbox.faces import TOKENS
from tests.factories import billing as factory
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings

Asked = tuple[Handoff | None, str | None]


@pytest.fixture
def selling(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return factory.selling(settings, sandbox)


@pytest.fixture
def ask(selling: Settings) -> Callable[..., Asked]:
    """Asks for a checkout of a new workspace, with other settings where given."""

    def asked(plan: str = "growth", **changed: object) -> Asked:
        settings = selling.model_copy(update=changed)
        found = billing.ask_checkout(
            settings, workspace_id=db.new_id(), plan=plan, interval="month", customer=None
        )  # fmt: skip
        return (None, found.reason) if isinstance(found, billing.Problem) else (found, None)

    return asked


def test_a_checkout_is_a_page_of_the_processor_that_names_its_hand_off(
    ask: Callable[..., Asked], sandbox: RunningSandbox
) -> None:
    handoff, problem = ask("agency")
    assert handoff is not None
    assert (problem, handoff.status, handoff.plan, handoff.interval) == (None, "pending", "agency", "month")
    vendor = stripe.StripeClient(TOKENS["stripe"], base_addresses={"api": f"{sandbox.url}/stripe"})
    session = vendor.v1.checkout.sessions.retrieve(str(handoff.external_ref))
    assert (session.url, session.client_reference_id) == (handoff.url, handoff.id)
    marks = {"workspace_id": handoff.workspace_id, "plan": "agency", "handoff_id": handoff.id}
    assert session.metadata is not None
    assert session.metadata.to_dict() == marks
    assert abs(handoff.expires_at - handoff.created_at - timedelta(hours=24)) < timedelta(minutes=1)


def test_a_repeat_after_a_lost_answer_makes_one_session(ask: Callable[..., Asked], sandbox: RunningSandbox) -> None:
    route = {"route": "checkout/sessions$", "kind": "truncation", "times": 1}
    sandbox.plan(route)
    handoff, _ = ask()
    assert handoff is not None
    assert sandbox.hits() == [1]
    assert sandbox.calls("checkout/sessions") == 2
    numbers = [int(part.url.rpartition("_")[2]) for part in (handoff, ask()[0]) if part]
    assert numbers[1] == numbers[0] + 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"kind": "status", "status": 402, "code": "card_declined"}, "refused"),
        ({"kind": "revoked"}, "refused"),
        ({"kind": "throttled", "wait": 60}, "throttled"),
        ({"kind": "status", "status": 500}, "unavailable"),
        ({"kind": "reset"}, "unavailable"),
        ({"kind": "html", "status": 200}, "bad_response"),
    ],
)
def test_a_processor_that_gives_no_page_is_a_problem_and_no_exception(
    ask: Callable[..., Asked], sandbox: RunningSandbox, fault: dict[str, object], reason: str
) -> None:
    sandbox.plan({"route": "checkout/sessions$", "times": None, **fault})
    assert ask() == (None, reason)


def test_without_a_secret_or_a_price_nothing_is_asked(ask: Callable[..., Asked], sandbox: RunningSandbox) -> None:
    assert ask(billing_secret=None) == (None, "unconfigured")
    assert ask(billing_prices={}) == (None, "unconfigured")
    assert sandbox.calls("checkout/sessions") == 0


def test_the_secret_is_in_no_log_exception_or_repr(
    selling: Settings, sandbox: RunningSandbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    sandbox.plan({"route": ".", "kind": "code", "code": "bad", "message": f"no {TOKENS['stripe']}", "times": None})
    with billing.processor(selling) as processor:
        with pytest.raises(Exception, match="stripe: no") as refused:
            processor.portal("cus_1", "https://shop.example", key="one")
        texts = [repr(processor), str(refused.value), repr(refused.value), repr(selling), caplog.text]
    assert not [text for text in texts if TOKENS["stripe"] in text]
    told = billing.refusal(refused.value)  # type: ignore[arg-type]
    assert (told.code.code, told.reason) == ("provider_error", "refused")
    assert TOKENS["stripe"] not in told.message
