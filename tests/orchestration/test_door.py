"""The door of the lake: whoever asks to be forgotten while a delivery waits to land does not come in with it."""

from __future__ import annotations

import pytest

from data_contracts.contract import load
from data_contracts.judge import judge
from orchestration.door import admitted
from orchestration.lake import Lake
from tests.factories import accounts
from tests.factories.erasures import forget
from touchledger.settings import Settings


def test_who_was_erased_is_asked_when_the_records_are_read(settings: Settings) -> None:
    profile, lake = accounts.profile(settings.operational_url), Lake(settings.lake)
    lake.prepare()
    order = {"connection_ref": "shop", "order_id": "1", "email": "ann@example.com"}
    # another landing holds the lake, and an erasure comes in between
    waits = admitted(settings.operational_url, lake, load("orders"), profile.id, [order])
    forget(settings, profile.id, ("email", "ann@example.com"))
    assert list(waits) == [{**order, "email": None}]


def test_a_row_that_names_only_somebody_erased_is_refused_for_that(settings: Settings) -> None:
    # the list of an import's errors said that no e-mail was given, of a row that gives one
    profile, lake = accounts.profile(settings.operational_url), Lake(settings.lake)
    lake.prepare()
    forget(settings, profile.id, ("email", "ann@example.com"))
    touch = {
        **{"touch_key": "t1", "occurred_at": "2026-03-05T10:00:00Z", "channel": "web", "origin": "web"},
        "email": "ann@example.com",
    }
    let_in = list(admitted(settings.operational_url, lake, load("touches"), profile.id, [touch]))
    (wrong,) = judge(load("touches"), let_in).rejected
    assert wrong.reason.endswith("payment_customer_id is given; that of somebody erased is not taken")


@pytest.mark.parametrize(
    ("dataset", "record", "field"),
    [
        (
            "identities",
            {
                **{"kind_a": "email", "value_a": "ann@example.com", "kind_b": "external_id", "value_b": "u1"},
                "observed_at": "2026-03-05T10:00:00Z",
            },
            "value_a",
        ),
        ("people", {"person_key": "ann", "first_name": "Ann"}, "person_key"),
    ],
)
def test_a_row_without_the_key_that_told_somebody_erased_is_refused_for_that(
    settings: Settings, dataset: str, record: dict[str, str], field: str
) -> None:
    # "missing" sent the operator to look for a fault of the source
    profile, lake = accounts.profile(settings.operational_url), Lake(settings.lake)
    lake.prepare()
    forget(settings, profile.id, ("email", "ann@example.com"), ("person_key", "ann"))
    let_in = list(admitted(settings.operational_url, lake, load(dataset), profile.id, [record]))
    (wrong,) = judge(load(dataset), let_in).rejected
    assert (wrong.field, wrong.reason) == (field, "missing, or that of somebody erased, which is not taken")
