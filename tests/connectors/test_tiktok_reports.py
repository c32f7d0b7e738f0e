"""TikTok's reports of more than a page, whose rows may stand in another order each time that a page is read."""

from __future__ import annotations

from datetime import timedelta

import pytest

from connectors import tiktok_api
from connectors.ad_platform import days_of
from connectors.errors import Malformed
from connectors.tiktok_ads import TikTokAds
from connectors.transport import Transport
from tests.connectors.conftest import SINCE
from tests.fixtures.sandbox import TODAY, RunningSandbox

REPORT = "/report/integrated/get/$"


def test_rows_that_move_between_the_pages_are_neither_lost_nor_doubled(
    sandbox: RunningSandbox, tiktok: TikTokAds, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivered = list(tiktok.delivery(SINCE, TODAY))
    broken_down = list(tiktok.breakdowns(TODAY, TODAY))
    # a page takes what any single day holds, and nowhere near what a fortnight does
    monkeypatch.setattr(tiktok_api, "PAGE", max(len(rows) for _, rows in delivered))
    assert sum(len(rows) for _, rows in delivered) > 3 * tiktok_api.PAGE
    sandbox.plan({"route": REPORT, "kind": "unsettled", "times": None})
    before = transport.requests
    assert list(tiktok.delivery(SINCE, TODAY)) == delivered
    days = len(list(days_of(SINCE, TODAY)))
    # of 14, 7, 4, 2 days, and so on: at most four walks of each range that does not hold still
    assert transport.requests - before < days * 20
    monkeypatch.setattr(tiktok_api, "PAGE", len(broken_down))
    assert sorted(map(str, tiktok.breakdowns(TODAY, TODAY))) == sorted(map(str, broken_down))


def test_what_a_page_told_before_counts_where_a_day_has_several(
    sandbox: RunningSandbox, tiktok: TikTokAds, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((_, rows),) = tiktok.delivery(TODAY, TODAY)
    monkeypatch.setattr(tiktok_api, "PAGE", 2)
    assert len(rows) > tiktok_api.PAGE
    sandbox.plan({"route": REPORT, "kind": "unsettled", "times": None})
    assert list(tiktok.delivery(TODAY, TODAY)) == [(TODAY, rows)]


def test_a_window_of_reach_is_never_split(
    sandbox: RunningSandbox, tiktok: TikTokAds, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    week = (TODAY - timedelta(days=6), TODAY)
    whole = sorted(map(str, tiktok.reach([week])))
    monkeypatch.setattr(tiktok_api, "PAGE", 3)
    sandbox.plan({"route": REPORT, "kind": "unsettled", "times": None})
    assert sorted(map(str, tiktok.reach([week]))) == whole
    monkeypatch.setattr(tiktok_api, "RESTARTS", 0)
    before = transport.requests
    with pytest.raises(Malformed, match="changed each time"):
        list(tiktok.reach([week]))
    # each level once at most
    assert transport.requests - before <= len(whole) // tiktok_api.PAGE + 3
