"""To whom ads are shown: warmth of ad sets, and delivery cut by place, placement and segment, against the sandbox."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from connectors import meta_audiences
from connectors.ad_platform import Row
from connectors.errors import Refused
from connectors.meta_ads import MetaAds, _cut_rows
from connectors.transport import Transport
from tests.connectors.conftest import SINCE
from tests.fixtures.sandbox import TODAY, RunningSandbox


def test_an_ad_sets_warmth_is_read_off_the_audiences_it_is_shown_to(sandbox: RunningSandbox, meta: MetaAds) -> None:
    warmth = {row["ad_set_id"]: row["audience_warmth"] for row in meta.entities()["ad_sets"]}
    assert warmth == {row.id: row.audience_warmth for row in sandbox.world.ad_sets if row.account_id == meta.account_id}
    assert set(warmth.values()) == {"hot", "warm", "cold"}


@pytest.mark.parametrize(
    ("targeting", "expected"),
    [
        (None, None),
        ({}, "cold"),
        ({"custom_audiences": [{"id": "1"}]}, "hot"),
        ({"custom_audiences": [{"id": "2"}, {"id": "3"}]}, "warm"),
        ({"custom_audiences": [{"id": "1"}, {"id": "2"}]}, "mixed"),
        ({"custom_audiences": [{"id": "4"}]}, "cold"),
        ({"custom_audiences": [{"id": "1"}, {"id": "99"}]}, None),
        ({"custom_audiences": [{"id": "5"}]}, "warm"),
        ({"custom_audiences": [{"id": "6"}]}, None),
    ],
)
def test_warmth_of_targeting_is_unknown_where_an_audience_cannot_be_read(
    targeting: dict[str, Any] | None, expected: str | None
) -> None:
    told = {"1": "WEBSITE", "2": "LOOKALIKE", "3": "ENGAGEMENT", "4": "PARTNER", "5": "IG_BUSINESS", "6": None}
    subtypes = meta_audiences.subtypes({"id": number, "subtype": subtype} for number, subtype in told.items())
    assert meta_audiences.warmth(targeting, subtypes) == expected


def test_an_account_whose_audiences_are_withheld_comes_without_the_warmth_of_those_who_use_them(
    sandbox: RunningSandbox, meta: MetaAds
) -> None:
    whole = meta.entities()
    sandbox.plan({"route": "/customaudiences$", "kind": "code", "code": "200", "times": None})
    found = meta.entities()
    assert {name: len(rows) for name, rows in found.items()} == {name: len(rows) for name, rows in whole.items()}
    assert {row["audience_warmth"] for row in found["ad_sets"]} == {"cold", None}
    sandbox.plan({"route": "/customaudiences$", "kind": "code", "code": "100", "times": None})
    with pytest.raises(Refused):
        meta.entities()


def test_parts_of_every_dimension_add_up_to_what_was_delivered(
    sandbox: RunningSandbox, meta: MetaAds, transport: Transport
) -> None:
    rows = list(meta.breakdowns(SINCE, TODAY))
    assert transport.requests == 2 * len(meta_audiences.DIMENSIONS)
    keys = {(row["ad_id"], row["date"], row["dimension"], row["value"]) for row in rows}
    assert len(keys) == len(rows)
    whole = {
        (row.ad_id, row.day): (row.impressions, Decimal(row.spend_minor) / 100)
        for row in sandbox.world.delivery_seen(meta.account_id, SINCE, TODAY)
    }
    for dimension in meta_audiences.DIMENSIONS:
        sums: dict[tuple[str, date], tuple[int, Decimal]] = {}
        for row in (row for row in rows if row["dimension"] == dimension):
            shown, spend = sums.get((row["ad_id"], row["date"]), (0, Decimal(0)))
            sums[row["ad_id"], row["date"]] = (shown + row["impressions"], spend + row["spend"])
        assert sums == whole


def test_breakdown_values_are_ours_and_some_ads_are_mixed(meta: MetaAds) -> None:
    found: dict[str, dict[str, Counter[str]]] = {name: {} for name in meta_audiences.DIMENSIONS}
    for row in meta.breakdowns(SINCE, TODAY):
        shown = found[row["dimension"]].setdefault(row["ad_id"], Counter())
        shown[row["value"]] += row["impressions"]
    values = {name: {value for ad in ads.values() for value in ad} for name, ads in found.items()}
    assert values["geo"] == {"us", "ca"}
    assert values["audience"] == {"hot", "warm", "cold", "unknown"}
    assert values["placement"] == {
        "facebook_feed", "facebook_reels", "instagram_feed", "instagram_reels", "instagram_stories",
    }  # fmt: skip
    shares = [max(ad.values()) / ad.total() for ad in found["placement"].values()]
    assert min(shares) < 0.6 < max(shares)


def test_segments_without_a_word_of_ours_add_up_and_a_part_that_came_twice_counts_once() -> None:
    part = {"ad_id": "1", "date_start": "2026-11-02", "spend": "1.50", "impressions": "10"}
    told = [
        {**part, "user_segment_key": "unknown"},
        {**part, "user_segment_key": "engaged_elsewhere"},
        {**part, "user_segment_key": "existing"},
        {**part, "user_segment_key": "existing", "impressions": "11"},
    ]
    rows = {row["value"]: (row["impressions"], row["spend"]) for row in _cut_rows(told, "audience")}
    assert rows == {"unknown": (20, Decimal("3.00")), "hot": (11, Decimal("1.50"))}


@pytest.mark.parametrize(
    ("row", "dimension", "expected"),
    [
        ({"country": "ES"}, "geo", "es"),
        ({}, "geo", "unknown"),
        ({"publisher_platform": "facebook", "platform_position": "feed"}, "placement", "facebook_feed"),
        ({"publisher_platform": "instagram", "platform_position": "instagram_reels"}, "placement", "instagram_reels"),
        ({"user_segment_key": "existing"}, "audience", "hot"),
        ({}, "audience", "unknown"),
    ],
)
def test_a_value_that_meta_leaves_out_is_unknown(row: Row, dimension: str, expected: str) -> None:
    assert meta_audiences.shown_to(row, dimension) == expected
