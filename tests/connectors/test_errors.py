"""A row that is not as promised ends a walk, and is named: whoever looks after the account must be able to find it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from connectors.errors import LONGEST_NAME, Malformed, each
from connectors.meta_ads import MetaAds
from connectors.stripe import Stripe
from connectors.tiktok_ads import TikTokAds
from connectors.transport import Answer
from tests.connectors.test_google_twins import customer, shown
from tests.connectors.test_malformed import CHARGE, META_NODE, META_ROW, TIKTOK_PAGE, TIKTOK_ROW, Scripted
from tests.fixtures.sandbox import TODAY

NOBODY = "http://127.0.0.1:9"
Row = dict[str, Any]


def saying(*bodies: Row) -> Scripted:
    return Scripted([Answer(200, {}, body, True) for body in bodies])


def without(row: Row, name: str) -> Row:
    return {key: value for key, value in row.items() if key != name}


def meta(*bodies: Row) -> MetaAds:
    return MetaAds(NOBODY, "t", "1", saying(*bodies), currency="USD")


def tiktok(row: Row) -> TikTokAds:
    page = {**TIKTOK_PAGE["data"], "list": [row]}
    return TikTokAds(NOBODY, "t", "1", saying({**TIKTOK_PAGE, "data": page}), currency="USD")


def stripe(charge: Row) -> Stripe:
    lists = [{"has_more": False, "data": rows} for rows in ([charge], [], [])]
    return Stripe(NOBODY, "t", saying(*lists))


def meta_ads(bare: Row) -> None:
    lists = [{"data": rows} for rows in ([META_NODE], [META_NODE], [META_NODE, bare], [META_NODE], [])]
    meta(META_NODE, *lists).entities()


WALKS: list[tuple[Callable[[], object], str]] = [
    (
        lambda: list(meta({"data": [{**META_ROW, "spend": "much"}]}).delivery(TODAY, TODAY)),
        f"ad_id 4, date_start {TODAY}",
    ),
    (lambda: meta_ads({**without(META_NODE, "adset_id"), "id": "77"}), "'adset_id'"),
    (lambda: meta_ads({**without(META_NODE, "adset_id"), "id": "77"}), "id 77"),
    (
        lambda: list(
            tiktok({**TIKTOK_ROW, "metrics": {**TIKTOK_ROW["metrics"], "clicks": "-"}}).delivery(TODAY, TODAY)
        ),
        f"dimensions.ad_id 4, dimensions.stat_time_day {TODAY}",
    ),
    (lambda: tiktok(without(TIKTOK_ROW, "ad_name")).linked_ads(), "ad_id 4"),
    (
        lambda: list(customer([{**shown("71", 5), "metrics": {"clicks": "few"}}], [], [], []).delivery(TODAY, TODAY)),
        f"adGroup.id 71, adGroupAd.ad.id 4, segments.date {TODAY}",
    ),
    (lambda: stripe(without(CHARGE, "currency")).payments(), "id x_1"),
]


@pytest.mark.parametrize(("walk", "named"), WALKS)
def test_the_row_is_named_by_its_ids_and_its_day(walk: Callable[[], object], named: str) -> None:
    # of an account with thousands of ads the log said "a figure that is not a number"
    with pytest.raises(Malformed) as odd:
        walk()
    assert named in str(odd.value)


@pytest.mark.parametrize("row", [{"x": 1}, {"id": "9" * 5000}])
def test_a_name_has_a_bound_and_may_be_none(row: Row) -> None:
    with pytest.raises(Malformed) as odd:
        each("meta", [row], lambda one: one["y"])
    assert "row of" in str(odd.value) and len(str(odd.value)) < LONGEST_NAME + 100
