"""The door of the lake: whoever asks to be forgotten while a delivery waits to land does not come in with it."""

from __future__ import annotations

from data_contracts.contract import load
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
