"""One TikTok advertiser: its entities, its daily delivery, the reach of windows, and what is changed there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property, partial

from connectors import tiktok_rows
from connectors.ad_platform import BudgetType, Level, LinkedAd, LiveState, Row, Studies, Window, chunks, days_of, halves
from connectors.errors import Refused, as_promised, each
from connectors.tiktok_api import Restless, TikTokApi, packed, rows_of
from connectors.tiktok_rows import NOUNS
from connectors.transport import Transport

# TikTok reports no more days than these by day in one list
DAYS_AT_ONCE = 30
# each trailing window costs a list per level: they are read as far back as somebody looks at one
TRAILING_DAYS = 90
_ACCOUNT = ("advertiser_id", "name", "currency", "timezone", "display_timezone", "status")
_ALL, _KEPT = "STATUS_ALL", "STATUS_NOT_DELETE"
_DELIVERY = (
    "campaign_id", "adgroup_id", "spend", "impressions", "clicks", "reach", "likes", "comments", "shares",
    "complete_payment", "total_complete_payment_rate",
)  # fmt: skip
_BY_DAY = "stat_time_day"
_each = partial(each, tiktok_rows.PLATFORM)


class TikTokAds:
    """One advertiser of TikTok's API for Business, `base_url` without the version. Raises ConnectorErrors only.

    `currency` is the account's, asked for when it is not given and somebody needs it; `entities` reads it anew.
    """

    platform = tiktok_rows.PLATFORM

    def __init__(
        self, base_url: str, token: str, account_id: str, transport: Transport, *, currency: str | None = None
    ) -> None:
        self.account_id = account_id
        self._given_currency = currency
        self._api = TikTokApi(base_url.rstrip("/"), token, transport)

    def __repr__(self) -> str:
        return f"<TikTokAds {self.account_id}>"

    def entities(self) -> dict[str, list[Row]]:
        """The latest state of the advertiser and all it holds, deleted ones too."""
        account = self._account()
        nodes = {level: self._every(level, _ALL) for level in NOUNS}
        with as_promised("tiktok"):
            currency = account["currency"]
            # what is spent from here on is in what the account has now, whatever it had when it was connected
            self._given_currency = currency or self._given_currency
            talking = {row["campaign_id"] for row in nodes["ad_set"] if tiktok_rows.is_talking(row)}
            return {
                "ad_accounts": [tiktok_rows.ad_account(account)],
                "campaigns": _each(nodes["campaign"], lambda node: tiktok_rows.campaign(node, talking, currency)),
                "ad_sets": _each(nodes["ad_set"], lambda node: tiktok_rows.ad_set(node, currency)),
                "ads": _each(nodes["ad"], tiktok_rows.ad),
                "creatives": _each(nodes["ad"], tiktok_rows.creative),
            }

    def delivery(self, day_from: date, day_to: date) -> Iterator[tuple[date, list[Row]]]:
        """Each day of the closed range with its ad_delivery rows, by ad."""
        for since, until in chunks(day_from, day_to, DAYS_AT_ONCE):
            found = self._reported("ad", _DELIVERY, since, until, _BY_DAY)
            days: dict[date, list[Row]] = {day: [] for day, _ in days_of(since, until)}
            with as_promised("tiktok"):
                for row in _each(found, lambda row: tiktok_rows.delivery(row, self.account_id, self._currency)):
                    days[row["date"]].append(row)
            for day, rows in days.items():
                yield day, sorted(rows, key=lambda row: str(row["ad_id"]))

    def breakdowns(self, day_from: date, day_to: date) -> Iterator[Row]:
        """ad_delivery_breakdowns rows of the closed range, by country."""
        for since, until in chunks(day_from, day_to, DAYS_AT_ONCE):
            found = self._reported("ad", ("spend", "impressions"), since, until, _BY_DAY, "country_code")
            yield from _each(found, tiktok_rows.by_country)

    def reach(self, windows: Iterable[Window]) -> Iterator[Row]:
        """entity_reach rows of every level for each window; TikTok removes duplicates, we never add up."""
        asked = sorted(set(windows))
        newest = max((until for _, until in asked), default=date.min)
        single = {since for since, until in asked if since == until}
        longer = [window for window in asked if window[0] < window[1] and _is_wanted(window, newest)]
        for level in NOUNS:
            yield from self._reach_by_day(level, single)
            for since, until in longer:
                found = self._reported(level, ("reach",), since, until)
                yield from filter(None, _each(found, partial(tiktok_rows.reach, level=level, since=since, until=until)))

    def studies(self, today: date) -> Studies:
        """None: TikTok tells no studies to apps of advertisers."""
        return Studies({})

    def state(self, level: Level, platform_id: str) -> LiveState | None:
        """One campaign, ad set or ad as TikTok shows it now; None for an id that is none of that level."""
        node = self._one(level, platform_id)
        if node is None:
            return None
        with as_promised("tiktok"):
            campaign = node if level == "campaign" else self._one("campaign", str(node["campaign_id"]))
            return tiktok_rows.live_state(node, level, campaign or {}, self._currency)

    def pause(self, level: Level, platform_id: str) -> None:
        """Disable it."""
        self._operate(level, platform_id, "DISABLE")

    def resume(self, level: Level, platform_id: str) -> None:
        """Enable it."""
        self._operate(level, platform_id, "ENABLE")

    def set_budget(self, level: Level, platform_id: str, kind: BudgetType, amount_minor: int) -> None:
        """Set the budget it has; of which type it is, TikTok keeps."""
        budget = tiktok_rows.spelled_budget(amount_minor, self._currency)
        own = {f"{NOUNS[level]}_id": platform_id, "budget": budget}
        if level == "campaign":
            self._api.change("campaign/update", {"advertiser_id": self.account_id, **own})
        else:
            self._api.change("adgroup/budget/update", {"advertiser_id": self.account_id, "budget": [own]})

    def linked_ads(self) -> list[LinkedAd]:
        """Every ad that is not deleted, with where it leads."""
        nodes = self._every("ad", _KEPT)
        return _each(nodes, tiktok_rows.linked_ad)

    @cached_property
    def _currency(self) -> str:
        with as_promised("tiktok"):
            return self._given_currency or str(self._account()["currency"])

    def _account(self) -> Row:
        asked = {"advertiser_ids": packed([self.account_id]), "fields": packed(_ACCOUNT)}
        found = rows_of(self._api.get("advertiser/info", asked))
        for node in found:
            if str(node.get("advertiser_id")) == self.account_id:
                return node
        raise Refused("tiktok", "the token does not open this advertiser", reason="not_found")

    def _every(self, level: Level, status: str) -> list[Row]:
        with as_promised("tiktok"):
            return self._api.walk(
                f"{NOUNS[level]}/get", self._filtered({"primary_status": status}), lambda row: row[f"{NOUNS[level]}_id"]
            )

    def _one(self, level: Level, platform_id: str) -> Row | None:
        if not (platform_id.isascii() and platform_id.isdigit() and len(platform_id) <= 32):
            return None
        name = f"{NOUNS[level]}_id"
        asked = self._filtered({f"{name}s": [platform_id], "primary_status": _ALL})
        try:
            found = rows_of(self._api.get(f"{NOUNS[level]}/get", asked))
        except Refused as refused:
            if refused.reason == "not_found":
                return None
            raise
        return next((row for row in found if str(row.get(name)) == platform_id), None)

    def _operate(self, level: Level, platform_id: str, status: str) -> None:
        noun = NOUNS[level]
        document = {"advertiser_id": self.account_id, f"{noun}_ids": [platform_id], "operation_status": status}
        self._api.change(f"{noun}/status/update", document)

    def _filtered(self, filtering: Row) -> dict[str, str]:
        return {"advertiser_id": self.account_id, "filtering": packed(filtering)}

    def _reach_by_day(self, level: Level, days: set[date]) -> Iterator[Row]:
        if not days:
            return
        for since, until in chunks(min(days), max(days), DAYS_AT_ONCE):
            found = self._reported(level, ("reach",), since, until, _BY_DAY)
            rows = _each(found, partial(_reach_of_day, level=level))
            yield from (row for row in rows if row is not None and row["date_to"] in days)

    def _reported(self, level: Level, metrics: Sequence[str], since: date, until: date, *parts: str) -> list[Row]:
        """The rows of a report on a level, cut into `parts`: by day, by country; of what was deleted since, too.

        One by day whose rows do not keep their pages is asked for by half its days, down to single ones.
        """
        dimensions = [f"{NOUNS[level]}_id", *parts]
        of_any_state = {
            "field_name": f"{NOUNS[level]}_status",
            "filter_type": "IN",
            "filter_value": packed(["STATUS_ALL"]),
        }
        asked = {
            "advertiser_id": self.account_id,
            "service_type": "AUCTION",
            "report_type": "AUDIENCE" if "country_code" in parts else "BASIC",
            "data_level": f"AUCTION_{NOUNS[level].upper()}",
            "dimensions": packed(dimensions),
            "metrics": packed(metrics),
            "filtering": packed([of_any_state]),
            "start_date": since.isoformat(),
            "end_date": until.isoformat(),
        }
        try:
            with as_promised("tiktok"):
                return self._api.walk(
                    "report/integrated/get",
                    asked,
                    lambda row: tuple(row["dimensions"][name] for name in dimensions),
                    # deleted objects keep their rows, and a day that passed has no new ones
                    grows=True,
                )
        except Restless:
            if since == until or _BY_DAY not in parts:
                raise
        return [row for half in halves(since, until) for row in self._reported(level, metrics, *half, *parts)]


def _reach_of_day(row: Row, level: Level) -> Row | None:
    day = tiktok_rows.day(row["dimensions"])
    return tiktok_rows.reach(row, level, day, day)


def _is_wanted(window: Window, newest: date) -> bool:
    is_month = window[0].day == 1
    return is_month or window[1] > newest - timedelta(days=TRAILING_DAYS)
