"""TikTok's synchronous reports: the presence's ad-days by level, day and country, every metric a string."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sandbox.ad_breakdowns import COUNTRY, shared_out
from sandbox.ads import Delivery
from sandbox.tiktok_world import COUNTRIES, Presence, reach
from sandbox.world import World

Row = dict[str, Any]
# an entity's id, the day and the country of a row, as far as it is of one
Key = tuple[str, date | None, str | None]
LEVELS = {
    "AUCTION_CAMPAIGN": ("campaign_id", "campaign_id"),
    "AUCTION_ADGROUP": ("adgroup_id", "ad_set_id"),
    "AUCTION_AD": ("ad_id", "ad_id"),
}
DAY, PLACE = "stat_time_day", "country_code"
MOST_DAYS_BY_DAY, MOST_DAYS = 30, 365


class BadReportError(ValueError):
    """A parameter that TikTok refuses with code 40002."""


@dataclass(frozen=True)
class Asked:
    """One checked request for a report; `deleted` asks for the rows of deleted objects too."""

    advertiser_id: str
    id_name: str
    own_name: str
    by_day: bool
    by_country: bool
    metrics: tuple[str, ...]
    since: date
    until: date
    deleted: bool = False


def read(params: Mapping[str, str]) -> Asked:
    """The request of these parameters. Raises BadReportError."""
    if params.get("service_type", "AUCTION") != "AUCTION" or params.get("data_level") not in LEVELS:
        raise BadReportError("data_level: Value is not in the enumeration")
    id_name, own_name = LEVELS[params["data_level"]]
    dimensions, metrics = _listed(params, "dimensions"), _listed(params, "metrics")
    parts = set(dimensions) - {id_name}
    if id_name not in dimensions or parts - {DAY, PLACE}:
        raise BadReportError("dimensions: this combination is not supported")
    if (params.get("report_type") == "AUDIENCE") != (PLACE in parts):
        raise BadReportError("report_type: does not support these dimensions")
    offered = _DIVISIBLE if PLACE in parts else _METRICS.keys()
    if unknown := [name for name in metrics if name not in offered]:
        raise BadReportError(f"metrics: invalid metric fields {unknown}")
    since, until = _day(params, "start_date"), _day(params, "end_date")
    longest = MOST_DAYS_BY_DAY if DAY in parts else MOST_DAYS
    if not 0 <= (until - since).days < longest:
        raise BadReportError(f"The time span must be within {longest} days")
    return Asked(
        params.get("advertiser_id", ""), id_name, own_name, DAY in parts, PLACE in parts, metrics, since, until,
        _deleted(params, id_name.removesuffix("_id")),
    )  # fmt: skip


def _deleted(params: Mapping[str, str], noun: str) -> bool:
    """Whether objects of every state are asked for; only those of the level can be."""
    try:
        found = [
            (one["field_name"], one["filter_type"], *json.loads(one["filter_value"]))
            for one in json.loads(params.get("filtering", "[]"))
        ]
    except (ValueError, TypeError, KeyError):
        raise BadReportError("filtering: must be a list of filters") from None
    if found and found != [(f"{noun}_status", "IN", "STATUS_ALL")]:
        raise BadReportError(f"filtering: not supported on the level of the {noun}")
    return bool(found)


def rows(presence: Presence, world: World, asked: Asked) -> list[Row]:
    """Every row of the report; what delivered nothing has none."""
    groups: dict[Key, list[Delivery]] = defaultdict(list)
    for country, row in _parts(presence, world, asked):
        groups[getattr(row, asked.own_name), row.day if asked.by_day else None, country].append(row)
    ordered = sorted(groups, key=lambda key: tuple(map(str, key)))
    return [_row(asked, key, groups[key]) for key in ordered]


def _parts(presence: Presence, world: World, asked: Asked) -> Iterator[tuple[str | None, Delivery]]:
    for row in presence.seen(asked.advertiser_id, asked.since, asked.until, world.as_of):
        if asked.by_country:
            countries = [(one,) for one in COUNTRIES[row.account_id]]
            for (country,), part in shared_out(world.seed, row, COUNTRY, countries):
                yield country, part
        else:
            yield None, row


def _row(asked: Asked, key: Key, found: list[Delivery]) -> Row:
    entity, day, country = key
    dimensions = {asked.id_name: entity}
    dimensions |= {DAY: f"{day} 00:00:00"} if day else {}
    dimensions |= {PLACE: country} if country else {}
    return {"dimensions": dimensions, "metrics": {name: _METRICS[name](found) for name in asked.metrics}}


def _listed(params: Mapping[str, str], name: str) -> tuple[str, ...]:
    try:
        found = json.loads(params.get(name, ""))
    except ValueError:
        found = None
    if not isinstance(found, list) or not found:
        raise BadReportError(f"{name}: must be a list")
    return tuple(map(str, found))


def _day(params: Mapping[str, str], name: str) -> date:
    try:
        return date.fromisoformat(params.get(name, ""))
    except ValueError:
        raise BadReportError(f"{name}: must be YYYY-MM-DD") from None


def _total(name: str) -> Callable[[list[Delivery]], str]:
    return lambda found: str(sum(getattr(row, name) or 0 for row in found))


def _money(name: str) -> Callable[[list[Delivery]], str]:
    def spelled(found: list[Delivery]) -> str:
        minor = sum(getattr(row, name) for row in found)
        return f"{minor // 100}.{minor % 100:02d}"

    return spelled


def _views(share: float) -> Callable[[list[Delivery]], str]:
    return lambda found: str(sum(int((row.video_3s_views or 0) * share) for row in found))


_METRICS: Mapping[str, Callable[[list[Delivery]], str]] = {
    "campaign_id": lambda found: found[0].campaign_id,
    "adgroup_id": lambda found: found[0].ad_set_id,
    "spend": _money("spend_minor"),
    "impressions": _total("impressions"),
    "clicks": _total("clicks"),
    "reach": lambda found: str(reach(found)),
    "likes": _total("reactions"),
    "comments": _total("comments"),
    "shares": _total("shares"),
    "video_watched_2s": _views(1.2),
    "video_watched_6s": _views(0.6),
    "conversion": _total("claimed_purchases"),
    "complete_payment": _total("claimed_purchases"),
    "total_complete_payment_rate": _money("claimed_value_minor"),
}
_DIVISIBLE = ("spend", "impressions", "clicks")
