"""Insights of the Marketing API: the world's deliveries, grouped by level and period, spelled as the Graph API does."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from sandbox.ad_breakdowns import OFFERED, cut
from sandbox.ad_delivery import deduplicated_reach
from sandbox.ads import Delivery
from sandbox.world import World

Row = dict[str, Any]
LEVELS = {"account": "account_id", "campaign": "campaign_id", "adset": "ad_set_id", "ad": "ad_id"}
# what an object of a level may effectively be, of which rows may be asked for
CAMPAIGN_STATES = ("ACTIVE", "ARCHIVED", "DELETED", "IN_PROCESS", "PAUSED", "WITH_ISSUES")
AD_SET_STATES = (*CAMPAIGN_STATES, "CAMPAIGN_PAUSED")
AD_STATES = (
    *AD_SET_STATES, "ADSET_PAUSED", "DISAPPROVED", "PENDING_BILLING_INFO", "PENDING_REVIEW", "PREAPPROVED",
)  # fmt: skip
STATES = {"campaign": CAMPAIGN_STATES, "adset": AD_SET_STATES, "ad": AD_STATES}
WINDOWS = {"1d_click", "7d_click", "28d_click", "1d_view", "1d_ev"}
GONE_WINDOWS = {"7d_view", "28d_view"}
PURCHASES = (
    "purchase", "omni_purchase", "onsite_web_purchase", "onsite_web_app_purchase", "web_in_store_purchase",
    "offsite_conversion.fb_pixel_purchase",
)  # fmt: skip
LEADS = ("lead", "offsite_conversion.fb_pixel_lead", "onsite_conversion.lead_grouped")


class BadInsights(ValueError):
    """A parameter that Meta refuses with code 100, or with `code`."""

    def __init__(self, message: str, code: int = 100) -> None:
        super().__init__(f"(#{code}) {message}")
        self.code = code


@dataclass(frozen=True)
class Asked:
    """One checked insights request. `increment` is days per row; None puts each range in one row.

    `states` are the effective states asked for at the level; None asks for all but deleted objects, and `left_out` are
    the objects that this leaves out.
    """

    account_id: str
    level: str
    fields: tuple[str, ...]
    ranges: tuple[tuple[date, date], ...]
    increment: int | None
    windows: tuple[str, ...]
    breakdowns: tuple[str, ...] = ()
    only: Mapping[str, frozenset[str]] = field(default_factory=dict)
    states: frozenset[str] | None = None
    left_out: frozenset[str] = frozenset()

    def leaves_out(self, state: str) -> bool:
        """Whether nothing is told of an object of the level that is in that state."""
        return state == "DELETED" if self.states is None else state not in self.states


def read(account_id: str, params: Mapping[str, str], today: date) -> Asked:
    """Check the parameters as Meta does. Raises BadInsights."""
    level = params.get("level", "account")
    if level not in LEVELS:
        raise BadInsights(f"level must be one of the following values: {', '.join(LEVELS)}")
    fields = tuple(listed(params.get("fields", ""))) or ("impressions", "spend")
    known = {*_IDS, *_FIGURES}
    for name in fields:
        if name not in known:
            raise BadInsights(f"{name} is not valid for fields param.")
    ranges = _ranges(params, today)
    windows = tuple(listed(params.get("action_attribution_windows", "")))
    if unknown := set(windows) - WINDOWS - GONE_WINDOWS - {"default"}:
        raise BadInsights(f"action_attribution_windows has unknown values {sorted(unknown)}")
    only, states = _filters(params, level)
    return Asked(
        account_id, level, fields, ranges, _increment(params), windows, _breakdowns(params, fields), only, states
    )


def _filters(params: Mapping[str, str], level: str) -> tuple[dict[str, frozenset[str]], frozenset[str] | None]:
    """The ids asked for, by the deliveries' own name of their level, and the states asked for of `level`."""
    kept, states = {}, None
    for one in _parsed(params.get("filtering", "[]")):
        of, _, name = str(one.get("field", "")).partition(".")
        given = frozenset(map(str, one["value"]))
        if one.get("operator") == "IN" and name == "id" and of in LEVELS:
            kept[LEVELS[of]] = given
        elif one.get("operator") == "IN" and name == "effective_status" and of == level:
            states = given
            if unknown := given - {*STATES[level]}:
                raise BadInsights(f"filtering has states that no {level} has: {sorted(unknown)}")
        else:
            raise BadInsights("filtering is offered by ids of a level and by the states of the level asked for only")
    return kept, states


def _breakdowns(params: Mapping[str, str], fields: tuple[str, ...]) -> tuple[str, ...]:
    asked = tuple(listed(params.get("breakdowns", "")))
    if asked and asked not in OFFERED:
        raise BadInsights(f"Current combination of data breakdown columns ({', '.join(asked)}) is invalid")
    if asked and (whole := set(fields) & (set(_FIGURES) - _DIVISIBLE)):
        raise BadInsights(f"{sorted(whole)} cannot be broken down here")
    return asked


def _ranges(params: Mapping[str, str], today: date) -> tuple[tuple[date, date], ...]:
    if "time_ranges" in params:
        given = _parsed(params["time_ranges"])
        if not isinstance(given, list) or not given:
            raise BadInsights("time_ranges must be a list of ranges")
        return tuple(_range(one, today) for one in given)
    if "time_range" in params:
        return (_range(_parsed(params["time_range"]), today),)
    return ((today - timedelta(days=30), today - timedelta(days=1)),)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise BadInsights("time ranges must be JSON") from None


def _range(given: Any, today: date) -> tuple[date, date]:
    try:
        since, until = date.fromisoformat(given["since"]), date.fromisoformat(given["until"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadInsights("time_range must be an object with since and until") from error
    if since > until:
        raise BadInsights("since date must be before until date")
    if since < today - timedelta(days=37 * 30):
        raise BadInsights("The start date of the time range cannot be beyond 37 months from the current date", 3018)
    return since, until


def _increment(params: Mapping[str, str]) -> int | None:
    text = params.get("time_increment", "all_days")
    if text == "all_days":
        return None
    if not text.isdigit() or not 1 <= int(text) <= 90:
        raise BadInsights("time_increment must be all_days or between 1 and 90")
    return int(text)


def listed(text: str) -> list[str]:
    """The items of a parameter that clients write as JSON or with commas."""
    if text.startswith("["):
        return [str(item) for item in json.loads(text)]
    return [item for item in text.split(",") if item]


def rows(world: World, asked: Asked) -> list[Row]:
    """Every row of the request, by range, period, then id; a group that delivered nothing has none."""
    return [row for since, until in asked.ranges for row in _rows_of_range(world, asked, since, until)]


def _rows_of_range(world: World, asked: Asked, since: date, until: date) -> list[Row]:
    length = asked.increment or (until - since).days + 1
    groups: dict[tuple[date, str, tuple[str, ...]], list[Delivery]] = defaultdict(list)
    for values, delivery in _parts(world, asked, since, until):
        start = since + timedelta(days=(delivery.day - since).days // length * length)
        groups[start, getattr(delivery, LEVELS[asked.level]), values].append(delivery)
    return [
        dict(zip(asked.breakdowns, key[2], strict=True))
        | _row(world, asked, key[0], min(until, key[0] + timedelta(days=length - 1)), groups[key])
        for key in sorted(groups)
    ]


def _parts(world: World, asked: Asked, since: date, until: date) -> Iterator[tuple[tuple[str, ...], Delivery]]:
    warmth = {row.id: row.audience_warmth for row in world.ad_sets} if asked.breakdowns else {}
    for delivery in world.delivery_seen(asked.account_id, since, until):
        if any(getattr(delivery, name) not in ids for name, ids in asked.only.items()):
            continue
        if getattr(delivery, LEVELS[asked.level]) in asked.left_out:
            continue
        if asked.breakdowns:
            yield from cut(world.seed, delivery, asked.breakdowns, warmth[delivery.ad_set_id])
        else:
            yield (), delivery


def _row(world: World, asked: Asked, start: date, stop: date, found: list[Delivery]) -> Row:
    row = {name: _IDS[name](world, found[0]) for name in asked.fields if name in _IDS and _fits(name, asked.level)}
    for name in asked.fields:
        value = _FIGURES[name](found, asked.windows) if name in _FIGURES else None
        # what there is none of is absent, not zero
        row.update({name: value} if value else {})
    return {**row, "date_start": start.isoformat(), "date_stop": stop.isoformat()}


def _fits(name: str, level: str) -> bool:
    order = list(LEVELS)
    return order.index(name.split("_")[0]) <= order.index(level)


def _actions(found: list[Delivery], windows: tuple[str, ...]) -> list[Row]:
    counts = {
        "link_click": _total(found, "link_clicks"),
        "post_reaction": _total(found, "reactions"),
        "comment": _total(found, "comments"),
        "post": _total(found, "shares"),
        "onsite_conversion.post_save": _total(found, "saves"),
        "video_view": _total(found, "video_3s_views"),
        "onsite_conversion.messaging_conversation_started_7d": _total(found, "messaging_started"),
        "onsite_conversion.messaging_first_reply": _total(found, "messaging_first_replies"),
        **dict.fromkeys(PURCHASES, _total(found, "claimed_purchases")),
        **dict.fromkeys(LEADS, _total(found, "claimed_leads")),
    }
    return [{"action_type": kind, **_split(count, windows, str)} for kind, count in sorted(counts.items()) if count]


def _action_values(found: list[Delivery], windows: tuple[str, ...]) -> list[Row]:
    minor = _total(found, "claimed_value_minor")
    return [{"action_type": kind, **_split(minor, windows, _money)} for kind in sorted(PURCHASES)] if minor else []


def _long_views(found: list[Delivery], windows: tuple[str, ...]) -> list[Row]:
    count = _total(found, "video_15s_views")
    return [{"action_type": "video_view", **_split(count, windows, str)}] if count else []


def _reach(found: list[Delivery], _: tuple[str, ...]) -> str:
    days: dict[date, list[int]] = defaultdict(list)
    for row in found:
        days[row.day].append(row.reach)
    return str(deduplicated_reach(list(days.values())))


def _split(total: int, windows: tuple[str, ...], spell: Callable[[int], str]) -> Row:
    clicked = total - total // 4
    shares = {"1d_click": total // 2, "7d_click": clicked, "28d_click": clicked, "1d_view": total - clicked}
    return {"value": spell(total), **{name: spell(shares[name]) for name in windows if shares.get(name)}}


def _total(found: list[Delivery], name: str) -> int:
    return sum(getattr(row, name) or 0 for row in found)


def _money(minor: int) -> str:
    return f"{minor // 100}.{minor % 100:02d}"


def _name(world: World, kind: str, entity: str) -> str:
    return next((row.name for row in getattr(world, kind) if row.id == entity), entity)


_IDS: dict[str, Callable[[World, Delivery], str]] = {
    "account_id": lambda _, row: row.account_id,
    "account_name": lambda world, row: _name(world, "accounts", row.account_id),
    "account_currency": lambda _, row: row.currency,
    "campaign_id": lambda _, row: row.campaign_id,
    "campaign_name": lambda world, row: _name(world, "campaigns", row.campaign_id),
    "adset_id": lambda _, row: row.ad_set_id,
    "adset_name": lambda world, row: _name(world, "ad_sets", row.ad_set_id),
    "ad_id": lambda _, row: row.ad_id,
    "ad_name": lambda world, row: _name(world, "ads", row.ad_id),
}
_DIVISIBLE = {"spend", "impressions", "clicks"}
_FIGURES: dict[str, Callable[[list[Delivery], tuple[str, ...]], Any]] = {
    "spend": lambda found, _: _money(_total(found, "spend_minor")),
    "impressions": lambda found, _: str(_total(found, "impressions")),
    "clicks": lambda found, _: str(_total(found, "clicks")),
    "inline_link_clicks": lambda found, _: str(_total(found, "link_clicks") or ""),
    "reach": _reach,
    "actions": _actions,
    "action_values": _action_values,
    "video_thruplay_watched_actions": _long_views,
}
