"""One Meta ad account: its entities, its daily delivery, the reach of windows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property, partial
from zoneinfo import ZoneInfo

from connectors import meta_audiences, meta_rows, meta_studies
from connectors.ad_platform import BudgetType, Level, LinkedAd, LiveState, Row, Studies, Window, chunks, days_of, halves
from connectors.errors import ConnectorError, Refused, TooMuchData, as_promised, each
from connectors.meta_graph import MetaGraph, ReportFailed, time_range
from connectors.transport import Transport

SYNC_DAYS = 7
ASYNC_FROM_DAYS = 29
REPORT_DAYS = 60
WINDOWS_AT_ONCE = 30
_STATUSES = (
    "ACTIVE", "PAUSED", "ARCHIVED", "DELETED", "IN_PROCESS", "WITH_ISSUES",
    "CAMPAIGN_PAUSED", "ADSET_PAUSED", "PENDING_REVIEW", "DISAPPROVED", "PREAPPROVED", "PENDING_BILLING_INFO",
)  # fmt: skip
_SHOWN = json.dumps(_STATUSES)
# what fewer kinds of objects can be
_OF_AD_SETS = ("ACTIVE", "PAUSED", "ARCHIVED", "DELETED", "IN_PROCESS", "WITH_ISSUES", "CAMPAIGN_PAUSED")
_OF_CAMPAIGNS = _OF_AD_SETS[:-1]
_ENTITY = "id,account_id,name,status,created_time,updated_time"
_EDGES = {
    "campaigns": f"{_ENTITY},objective,daily_budget,lifetime_budget",
    "adsets": f"{_ENTITY},campaign_id,optimization_goal,daily_budget,lifetime_budget,promoted_object,targeting",
    "ads": f"{_ENTITY},campaign_id,adset_id,creative",
    "adcreatives": "id,title,body,object_type,call_to_action_type,thumbnail_url,video_id,url_tags,object_story_spec,"
    "asset_feed_spec",
}
_AUDIENCE = "id,subtype"
# edges whose rows have no status to ask for
_UNFILTERED = {"adcreatives", "customaudiences"}


def _whatever(kind: str, statuses: Sequence[str]) -> dict[str, str]:
    """Rows of a level for objects of any state: unless all are named, what was deleted has none, also of its past."""
    named = {"field": f"{kind}.effective_status", "operator": "IN", "value": statuses}
    return {"level": kind, "filtering": json.dumps([named])}


_OF_ADS = _whatever("ad", _STATUSES)
_DELIVERY = {
    **_OF_ADS,
    "time_increment": "1",
    "action_attribution_windows": json.dumps(["7d_click", "1d_view"]),
    "fields": "account_id,account_currency,campaign_id,adset_id,ad_id,spend,impressions,clicks,inline_link_clicks,"
    "reach,actions,action_values,video_thruplay_watched_actions",
}
# a member that only this kind of object has stands in each, so that Meta refuses an id of another kind
_LIVE = "id,account_id,name,status,effective_status"
_LIVE_FIELDS: dict[Level, str] = {
    "campaign": f"{_LIVE},objective,daily_budget,lifetime_budget",
    "ad_set": f"{_LIVE},optimization_goal,daily_budget,lifetime_budget,campaign{{status,effective_status}}",
    "ad": f"{_LIVE},adset_id,campaign{{status,effective_status}}",
}
_LINKED = "id,name,campaign{name},creative{url_tags,object_story_spec,asset_feed_spec}"
_CUT = {**_OF_ADS, "time_increment": "1", "fields": "ad_id,spend,impressions"}
_each = partial(each, meta_rows.PLATFORM)
_LEVELS = {
    "campaign": ("campaign", _whatever("campaign", _OF_CAMPAIGNS)),
    "ad_set": ("adset", _whatever("adset", _OF_AD_SETS)),
    "ad": ("ad", _OF_ADS),
}


class MetaAds:
    """One ad account of the Meta Marketing API, `base_url` without the version. Raises ConnectorErrors only.

    `currency` is the account's, asked for when it is not given and somebody needs it.
    """

    platform = meta_rows.PLATFORM

    def __init__(
        self,
        base_url: str,
        token: str,
        account_id: str,
        transport: Transport,
        *,
        app_secret: str | None = None,
        currency: str | None = None,
    ) -> None:
        self.account_id = account_id.removeprefix("act_")
        self._given_currency = currency
        self._graph = MetaGraph(base_url.rstrip("/"), token, transport, app_secret)

    def __repr__(self) -> str:
        return f"<MetaAds act_{self.account_id}>"

    def entities(self) -> dict[str, list[Row]]:
        """The latest state of the account and all it holds, archived and deleted ones too."""
        account = self._graph.node(self._path(), "account_id,name,currency,timezone_name,account_status")
        nodes = {edge: self._edge(edge, fields) for edge, fields in _EDGES.items()}
        audiences = self._audiences()
        creatives = {node["id"]: node for node in nodes["adcreatives"]}
        with as_promised("meta"):
            subtypes = meta_audiences.subtypes(audiences)
            talking = {row["campaign_id"] for row in nodes["adsets"] if row.get("optimization_goal") == "CONVERSATIONS"}
            currency = account["currency"]
            return {
                "ad_accounts": [meta_rows.ad_account(account)],
                "campaigns": _each(nodes["campaigns"], lambda node: meta_rows.campaign(node, talking, currency)),
                "ad_sets": _each(nodes["adsets"], lambda node: meta_rows.ad_set(node, currency, subtypes)),
                "ads": _each(nodes["ads"], lambda node: meta_rows.ad(node, creatives)),
                "creatives": _each(nodes["adcreatives"], meta_rows.creative),
            }

    def delivery(self, day_from: date, day_to: date) -> Iterator[tuple[date, list[Row]]]:
        """Each day of the closed range with its ad_delivery rows, by ad; long ranges go through report runs."""
        long = (day_to - day_from).days + 1 >= ASYNC_FROM_DAYS
        for since, until in chunks(day_from, day_to, REPORT_DAYS if long else SYNC_DAYS):
            rows = self._reported(since, until) if long else self._insights(_DELIVERY, since, until)
            yield from _by_day(rows, since, until)

    def breakdowns(self, day_from: date, day_to: date) -> Iterator[Row]:
        """ad_delivery_breakdowns rows of the closed range: a walk per dimension and week, none for figures of reach."""
        for since, until in chunks(day_from, day_to, SYNC_DAYS):
            for dimension, asked in meta_audiences.DIMENSIONS.items():
                found = self._insights(_CUT | {"breakdowns": ",".join(asked)}, since, until)
                yield from _cut_rows(found, dimension)

    def reach(self, windows: Iterable[Window]) -> Iterator[Row]:
        """entity_reach rows of every level for each window; the platform removes duplicates, we never add up."""
        asked = [{"since": str(since), "until": str(until)} for since, until in windows]
        for start in range(0, len(asked), WINDOWS_AT_ONCE):
            ranges = asked[start : start + WINDOWS_AT_ONCE]
            for level, (spelled, of_all) in _LEVELS.items():
                found = self._of_ranges({**of_all, "fields": f"{spelled}_id,reach"}, ranges)
                yield from _reach_rows(found, level, f"{spelled}_id")

    def studies(self, today: date) -> Studies:
        """The account's newest studies; `today` is the day it is at Meta."""
        account = self._graph.node(self._path(), "currency,timezone_name")
        with as_promised("meta"):
            zone = ZoneInfo(account["timezone_name"])
            of = meta_studies.Account(self._path(), account["currency"], zone, today)
        return meta_studies.read(self._graph, of)

    def state(self, level: Level, platform_id: str) -> LiveState | None:
        """One campaign, ad set or ad as Meta shows it now; None for an id that is none of that level."""
        if not _is_id(platform_id):
            return None
        try:
            node = self._graph.node(platform_id, _LIVE_FIELDS[level])
        except Refused as refused:
            if refused.reason in ("not_found", "another_kind"):
                return None
            raise
        with as_promised("meta"):
            return meta_rows.live_state(node, level, self._currency)

    def pause(self, level: Level, platform_id: str) -> None:
        """Set the status to PAUSED."""
        self._graph.change(platform_id, {"status": "PAUSED"})

    def resume(self, level: Level, platform_id: str) -> None:
        """Set the status to ACTIVE."""
        self._graph.change(platform_id, {"status": "ACTIVE"})

    def set_budget(self, level: Level, platform_id: str, kind: BudgetType, amount_minor: int) -> None:
        """Set the daily or the lifetime budget; `amount_minor` is a whole number of Meta's steps."""
        units = amount_minor // meta_rows.budget_step(self._currency)
        self._graph.change(platform_id, {f"{kind}_budget": str(units)})

    def linked_ads(self) -> list[LinkedAd]:
        """Every ad that is neither archived nor deleted, with where it leads; Meta leaves those out by itself."""
        nodes = self._graph.walk(f"{self._path()}/ads", {"fields": _LINKED})
        return list({ad.ad_id: ad for ad in _each(nodes, meta_rows.linked_ad)}.values())

    @cached_property
    def _currency(self) -> str:
        with as_promised("meta"):
            return self._given_currency or str(self._graph.node(self._path(), "currency")["currency"])

    def _path(self) -> str:
        return f"act_{self.account_id}"

    def _edge(self, edge: str, fields: str) -> list[Row]:
        asked = {"fields": fields} if edge in _UNFILTERED else {"fields": fields, "effective_status": _SHOWN}
        nodes = self._graph.walk(f"{self._path()}/{edge}", asked)
        with as_promised("meta"):
            return list({node["id"]: node for node in nodes}.values())

    def _audiences(self) -> list[Row]:
        """None of them for a token that may not read them: no figure needs them."""
        try:
            return self._edge("customaudiences", _AUDIENCE)
        except Refused as refused:
            if refused.reason != "permission_missing":
                raise
            return []

    def _insights(self, asked: Mapping[str, str], since: date, until: date) -> list[Row]:
        """Rows of a range; one that holds too much to be computed is split in two, down to single days."""
        try:
            return self._graph.walk(f"{self._path()}/insights", {**asked, "time_range": time_range(since, until)})
        except TooMuchData:
            if since == until:
                raise
        return [row for half in halves(since, until) for row in self._insights(asked, *half)]

    def _of_ranges(self, asked: Mapping[str, str], ranges: Sequence[Mapping[str, str]]) -> list[Row]:
        """Rows of several ranges at once, of fewer where all hold too much together."""
        try:
            return self._graph.walk(f"{self._path()}/insights", {**asked, "time_ranges": json.dumps(ranges)})
        except TooMuchData:
            if len(ranges) == 1:
                raise
        middle = len(ranges) // 2
        return self._of_ranges(asked, ranges[:middle]) + self._of_ranges(asked, ranges[middle:])

    def _reported(self, since: date, until: date) -> list[Row]:
        """Rows of a report run; one that fails twice, or holds too much, is split in two, down to single days."""
        failure: ConnectorError
        for _ in range(2):
            try:
                params = {**_DELIVERY, "time_range": time_range(since, until)}
                return self._graph.report(f"{self._path()}/insights", params)
            except ReportFailed as error:
                failure = error
            except TooMuchData as error:
                failure = error
                break
        if since == until:
            raise failure
        return [row for half in halves(since, until) for row in self._reported(*half)]


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 32


def _by_day(found: Iterable[Row], since: date, until: date) -> Iterator[tuple[date, list[Row]]]:
    """All days of the range; of an ad-day that came twice the later row stands."""
    days: dict[date, dict[str, Row]] = {day: {} for day, _ in days_of(since, until)}
    with as_promised("meta"):
        for row in _each(found, meta_rows.delivery):
            days[row["date"]][row["ad_id"]] = row
    for day, rows in days.items():
        yield day, [rows[ad] for ad in sorted(rows, key=str)]


def _cut_rows(found: Iterable[Row], dimension: str) -> list[Row]:
    """One row per ad, day and value, which several of Meta's may share; of a part that came twice the later stands."""
    asked, rows = meta_audiences.DIMENSIONS[dimension], dict[tuple[str, date, str], Row]()
    with as_promised("meta"):
        parts = {(row["ad_id"], row["date_start"], *(row.get(name) for name in asked)): row for row in found}
        for row in _each(parts.values(), lambda part: meta_rows.breakdown(part, dimension)):
            kept = rows.setdefault((row["ad_id"], row["date"], row["value"]), row)
            if kept is not row:
                kept |= {name: kept[name] + row[name] for name in ("impressions", "spend")}
    return list(rows.values())


def _reach_rows(found: Iterable[Row], level: str, key: str) -> list[Row]:
    rows = _each(found, lambda row: meta_rows.reach(row, level, key))
    return list({(row["entity_id"], row["date_from"], row["date_to"]): row for row in rows}.values())
