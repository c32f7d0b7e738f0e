"""The naive reference's touches: which records are one touch, and where the credit of a touch goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

VISIT_BREAK = 1_800
PLATFORM_OF_CLICK = {"fbclid": "meta", "gclid": "google"}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Entity:
    """Where credit goes: the platform's ids as far as they are known, or a reason."""

    platform: str
    campaign: str | None = None
    ad_set: str | None = None
    ad: str | None = None
    reason: str | None = None

    def at(self, level: str) -> str | None:
        """`level:platform:id` of the entity at a level, None when it has none there."""
        named = getattr(self, level)
        return f"{level}:{self.platform}:{named}" if named else None

    def reason_at(self, level: str) -> str:
        return self.reason or "parent_only"

    def public_id(self, profile: str, make: Callable[[str, str, str], str]) -> str:
        if self.reason:
            return make(profile, "destination", f"{self.reason}:{self.platform}")
        kind, _, key = (self.at("ad") or self.at("ad_set") or self.at("campaign") or "").partition(":")
        return make(profile, kind, key)


@dataclass(frozen=True)
class Touch:
    person: int
    ts: int
    key: str
    is_direct: bool
    place: Entity


def seconds(text: str) -> int:
    """Whole epoch seconds of an ISO time, cut."""
    return int(datetime.fromisoformat(text).timestamp() // 1)


def touches_of(records: Mapping[str, Sequence[Row]], paid: Mapping[str, tuple[int, int | None]]) -> list[Touch]:
    """Every touch of known people; `paid` tells of the payment that a record claims when it was, and who paid."""
    arrivals = [_arrival(row, row["touch_key"], row["occurred_at"]) for row in records["touches"]]
    visits = _visits([row for row in arrivals if row["person"] is not None])
    carried = [_carried(row, paid) for name in ("conversions", "orders") for row in records[name] if _carries(row)]
    found = _together(visits, [row for row in carried if row["person"] is not None])
    return [
        Touch(row["person"], row["ts"], row["key"], bool(row.get("is_direct")), _place(row, records)) for row in found
    ]


def _arrival(row: Row, key: str, at: str) -> dict[str, Any]:
    named = [f"{name}:{row[name]}" for name in ("ad_id", "ad_set_id", "campaign_id") if row.get(name)]
    return {**row, "key": key, "ts": seconds(at), "ad": named[0] if named else None, "beside": named[1:]}


def _carries(row: Row) -> bool:
    return row.get("conversion_type") != "refund_issued" and bool(row.get("ad_platform") or row.get("click_id"))


def _carried(row: Row, paid: Mapping[str, tuple[int, int | None]]) -> dict[str, Any]:
    """The touch that a conversion or an order says it came from; `rank` 1 when it says when, else 2."""
    key = f"conversion:{row['conversion_key']}" if "conversion_key" in row else f"order:shop:{row['order_id']}"
    at = row.get("touch_at")
    own = _arrival(row, key, at or row.get("occurred_at") or row["created_at"])
    paid_at, payer = paid.get(key, (own["ts"], None))
    ts, person = own["ts"] if at else min(own["ts"], paid_at), row["person"] if payer is None else payer
    return {**own, "person": person, "ts": ts, "is_paid": True, "rank": 1 if at else 2}


def _visits(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    clicks: set[tuple[Any, ...]] = set()
    last: dict[tuple[Any, ...], dict[str, Any]] = {}
    pages: set[tuple[Any, ...]] = set()
    kept = []
    for row in sorted(rows, key=lambda row: (row["ts"], row["key"])):
        click, ad, session = (row["person"], row.get("click_id")), (row["person"], row["ad"]), row.get("session_id")
        is_reload = bool(click[1]) and click in clicks
        clicks.add(click)
        before = last.get(ad)
        last[ad] = row
        again = session is not None and (*ad, session) in pages
        pages.add((*ad, session))
        unsure = before is not None and (session is None or before.get("session_id") is None)
        if is_reload:
            continue
        if row["ad"] and (again or (unsure and before is not None and row["ts"] - before["ts"] < VISIT_BREAK)):
            continue
        kept.append(row)
    return kept


def _together(visits: Sequence[dict[str, Any]], carried: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Visits, and what records tell of their own, once each: the first sight of a click or of an ad is the touch."""
    carried = [row for row in carried if not (row["rank"] == 1 and any(_came_with(row, other) for other in visits))]
    sights = sorted([*visits, *carried], key=_order)
    clicks: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sights:
        clicks.setdefault((row["person"], row.get("click_id")), row)

    def clicked_before(row: dict[str, Any]) -> bool:
        return bool(row.get("click_id")) and clicks[row["person"], row["click_id"]] is not row

    stale = [row for row in carried if not row.get("click_id") and row["rank"] == 2 and _told(row, sights) is not None]
    once = [row for row in carried if not clicked_before(row) and not any(row is other for other in stale)]
    own = [row for row in once if not _is_within(row, _told(row, [*visits, *once]))]
    kept = []
    for row in visits:
        before = _before(row, [*visits, *own])
        if not clicked_before(row) and not (before is not None and "rank" in before and _is_within(row, before)):
            kept.append(row)
    return kept + own


def _came_with(row: dict[str, Any], visit: dict[str, Any]) -> bool:
    """Whether a record's own time is that of the visit: of its click or ad, and less than a break before it."""
    is_click = bool(row.get("click_id")) and visit.get("click_id") == row["click_id"]
    is_page = bool(row["ad"]) and row["ad"] in (visit["ad"], *visit["beside"])
    is_same = visit["person"] == row["person"] and (is_click or is_page)
    return is_same and _order(visit) > _order(row) and visit["ts"] - row["ts"] < VISIT_BREAK


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["ts"], row.get("rank", 0), row["key"]


def _before(row: dict[str, Any], sights: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The last sight of the same ad before this one."""
    same = [other for other in sights if row["ad"] and (other["person"], other["ad"]) == (row["person"], row["ad"])]
    return max((other for other in same if _order(other) < _order(row)), key=_order, default=None)


def _told(row: dict[str, Any], sights: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The last sight before this one that named the same ad, or its ad set or campaign beside a finer name."""
    beside = [other for other in sights if other["person"] == row["person"] and row["ad"] in other["beside"]]
    turn = row["ts"], row["rank"]
    sooner = [other for other in beside if other is not row and (other["ts"], other.get("rank", 0)) <= turn]
    named = _before(row, sights)
    return max([*sooner, *([named] if named else [])], key=_order, default=None)


def _is_within(row: dict[str, Any], before: dict[str, Any] | None) -> bool:
    return before is not None and row["ts"] - before["ts"] < VISIT_BREAK


def _place(row: Row, records: Mapping[str, Sequence[Row]]) -> Entity:
    platform = row.get("ad_platform") or PLATFORM_OF_CLICK.get(row.get("click_id_type") or "", "")
    for name, level in (("ad_id", "ad"), ("ad_set_id", "ad_set"), ("campaign_id", "campaign")):
        for known in records[f"{level}s"]:
            if row.get(name) and known["platform"] == platform and known[name] == row[name]:
                return Entity(platform, known["campaign_id"], known.get("ad_set_id"), known.get("ad_id"))
    if any(row.get(name) for name in ("ad_id", "ad_set_id", "campaign_id")):
        return Entity(platform, reason="unknown_ad")
    if row.get("is_paid"):
        return Entity(platform, reason="paid_without_ad")
    return Entity("", reason="direct" if row.get("is_direct") else "other_channel")
