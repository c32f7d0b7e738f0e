"""One Google Ads customer: its entities, its daily delivery by ad, what is live there and what is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import cached_property, partial

from connectors import google_queries, google_rows
from connectors.ad_platform import BudgetType, Level, LinkedAd, LiveState, Row, Studies, Window, chunks, days_of, halves
from connectors.apps import App
from connectors.errors import Refused, TooMuchData, as_promised, each
from connectors.google_api import GoogleApi
from connectors.google_rows import NOUNS
from connectors.transport import Transport

# the rows of one answer grow with the days
DAYS_AT_ONCE = 30
LONGEST_ID = 19
# of several rows of one ad
SUMMED = ("spend", "impressions", "clicks", "platform_conversions", "platform_conversion_value")
_LIVELINESS = {"ACTIVE": 2, "PAUSED": 1}
Place = tuple[str, str | None]
_each = partial(each, google_rows.PLATFORM)


class GoogleAds:
    """One customer of the Google Ads API, `base_url` without the version. Raises ConnectorErrors only.

    `currency` is the account's, asked for when it is not given and somebody needs it; `entities` reads it anew.
    """

    platform = google_rows.PLATFORM

    def __init__(
        self,
        base_url: str,
        refresh_token: str,
        account_id: str,
        transport: Transport,
        app: App,
        *,
        reached_through: str | None = None,
        currency: str | None = None,
    ) -> None:
        self.account_id = account_id.replace("-", "")
        self._given_currency = currency
        self._api = GoogleApi(
            base_url, refresh_token, app, transport, customer_id=self.account_id, login_customer_id=reached_through
        )

    def __repr__(self) -> str:
        return f"<GoogleAds {self.account_id}>"

    def entities(self) -> dict[str, list[Row]]:
        """The latest state of the customer and all it holds, what was removed too."""
        account = self._account()
        found = {name: self._api.search(query) for name, query in google_queries.ENTITIES.items()}
        with as_promised("google"):
            currency = account["customer"]["currencyCode"]
            # what is spent from here on is in what the account has now, whatever it had when it was connected
            self._given_currency = currency or self._given_currency
            groups = _each(found["asset_group"], google_rows.asset_group)
            creatives = [row for row in _each(found["ad"], google_rows.creative) if row is not None]
            campaigns = _each(found["campaign"], lambda row: google_rows.campaign(row, self.account_id, currency))
            return {
                "ad_accounts": [google_rows.ad_account(account)],
                "campaigns": _once(campaigns, "campaign_id"),
                "ad_sets": _once(
                    [*_each(found["ad_group"], google_rows.ad_set), *(own for own, _ in groups)], "ad_set_id"
                ),
                "ads": _one_each([*_each(found["ad"], google_rows.ad), *(ad for _, ad in groups)]),
                "creatives": _once(creatives, "creative_id"),
            }

    def delivery(self, day_from: date, day_to: date) -> Iterator[tuple[date, list[Row]]]:
        """Each day of the closed range with its ad_delivery rows, by ad; an ad of several ad groups is one row.

        Claims are asked for beside the spend, since Google tells none of the two by kinds of the other, and asset
        groups beside ads; a day is there when all of it is.
        """
        for since, until in chunks(day_from, day_to, DAYS_AT_ONCE):
            shown, claimed = (
                [row for of in google_queries.DELIVERED for row in self._report(partial(ask, of), since, until)]
                for ask in (google_queries.delivery, google_queries.claims)
            )
            yield from self._by_day(shown, claimed, since, until)

    def breakdowns(self, day_from: date, day_to: date) -> Iterator[Row]:
        """ad_delivery_breakdowns rows of the closed range by network; places are told of no single ad."""
        for since, until in chunks(day_from, day_to, DAYS_AT_ONCE):
            found = self._report(google_queries.networks, since, until)
            rows = dict(_each(found, lambda row: ((_place(row), _network(row)), google_rows.breakdown(row))))
            yield from _folded(rows.values(), "ad_id", "date", "value")

    def studies(self, today: date) -> Studies:
        """None: what Google calls experiments splits campaigns, not people who see an ad or none."""
        return Studies({})

    def reach(self, windows: Iterable[Window]) -> Iterator[Row]:
        """None: Google tells how many people an ad reached for few kinds of campaigns, and of no single ad."""
        return iter(())

    def state(self, level: Level, platform_id: str) -> LiveState | None:
        """One campaign, ad group or ad as Google shows it now; None for an id that is none of that level."""
        rows = self._live(level, platform_id)
        with as_promised("google"):
            return google_rows.live_state(rows[0], level) if rows else None

    def pause(self, level: Level, platform_id: str) -> None:
        """Set the status to PAUSED."""
        self._set_status(level, platform_id, "PAUSED")

    def resume(self, level: Level, platform_id: str) -> None:
        """Set the status to ENABLED."""
        self._set_status(level, platform_id, "ENABLED")

    def set_budget(self, level: Level, platform_id: str, kind: BudgetType, amount_minor: int) -> None:
        """Set the amount of the campaign's budget, unless other campaigns share it; nothing else has one."""
        row = self._found(level, platform_id)[0]
        with as_promised("google"):
            node = row.get("campaignBudget") or {}
            if level != "campaign" or node.get("explicitlyShared"):
                raise Refused("google", "there is no budget of its own", reason="no_budget")
            member = "amountMicros" if kind == "daily" else "totalAmountMicros"
            micros = google_rows.spelled_micros(amount_minor, str(row["customer"]["currencyCode"]))
            resource = str(node["resourceName"])
        self._api.change("campaignBudgets", [resource], {member: micros})

    def linked_ads(self) -> list[LinkedAd]:
        """Every ad and asset group that is not removed, nor under something that is, with where it leads."""
        found = self._api.search(google_queries.LINKED_ADS) + self._api.search(google_queries.LINKED_ASSET_GROUPS)
        return list({ad.ad_id: ad for ad in _each(found, google_rows.linked_ad)}.values())

    def _report(self, ask: Callable[[date, date], str], since: date, until: date) -> list[Row]:
        """Rows of a report; one that is too large for an answer is asked for by half its days, down to single ones."""
        try:
            return self._api.stream(ask(since, until))
        except TooMuchData:
            if since == until:
                raise
        return [row for half in halves(since, until) for row in self._report(ask, *half)]

    def _account(self) -> Row:
        found = self._api.search(google_queries.ACCOUNT)
        if not found:
            raise Refused("google", "the token does not open this customer", reason="not_found")
        return found[0]

    @cached_property
    def _currency(self) -> str:
        with as_promised("google"):
            return self._given_currency or str(self._account()["customer"]["currencyCode"])

    def _live(self, level: Level, platform_id: str) -> list[Row]:
        """What has the id, an ad once for each of its ad groups; that which may still be shown first."""
        if not (platform_id.isascii() and platform_id.isdigit() and len(platform_id) <= LONGEST_ID):
            return []
        found = self._api.search(google_queries.live(level, platform_id))
        with as_promised("google"):
            return sorted(found, key=lambda row: -_liveliness(google_rows.live_state(row, level).status))

    def _found(self, level: Level, platform_id: str) -> list[Row]:
        rows = self._live(level, platform_id)
        if not rows:
            raise Refused("google", "the customer has nothing of this id", reason="not_found")
        return rows

    def _set_status(self, level: Level, platform_id: str, status: str) -> None:
        noun, collection = NOUNS[level]
        rows = self._found(level, platform_id)
        with as_promised("google"):
            # an ad of two ad groups is one here: it rests or runs in both, but for where it was removed
            alive = [row for row in rows if _liveliness(google_rows.live_state(row, level).status)] or rows[:1]
            resources = [str(row[noun]["resourceName"]) for row in alive]
        self._api.change(collection, resources, {"status": status})

    def _by_day(
        self, shown: Iterable[Row], claimed: Iterable[Row], since: date, until: date
    ) -> Iterator[tuple[date, list[Row]]]:
        """All days of the range; of an ad-day of an ad group that came twice the later row stands."""
        days: dict[date, dict[Place, Row]] = {day: {} for day, _ in days_of(since, until)}

        def spent(row: Row) -> None:
            days[google_rows.day(row)][_place(row)] = google_rows.delivery(row, self.account_id, self._currency)

        def sold(row: Row) -> None:
            # an ad may have sold on a day on which it was not shown
            bare = google_rows.delivery({**row, "metrics": {}}, self.account_id, self._currency)
            days[bare["date"]].setdefault(_place(row), bare).update(google_rows.claims(row))

        _each(shown, spent)
        _each(claimed, sold)
        for day, rows in days.items():
            yield day, sorted(_folded(rows.values(), "ad_id"), key=lambda row: str(row["ad_id"]))


def _place(row: Row) -> Place:
    """The ad group and the ad, or the asset group twice: an ad's id is one ad's only within its ad group."""
    group = row.get("assetGroup") or row["adGroup"]
    return str(group["id"]), google_rows.ad_id(row)


def _network(row: Row) -> tuple[date, str]:
    return google_rows.day(row), str(row["segments"]["adNetworkType"])


def _folded(rows: Iterable[Row], *key: str) -> list[Row]:
    """One row per key with the figures of all of it, under the ad group that spent most."""
    kept: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=lambda row: (-row["spend"], str(row.get("ad_set_id")))):
        held = kept.setdefault(tuple(row[name] for name in key), row)
        if held is not row:
            held |= {name: held[name] + row[name] for name in SUMMED if name in row}
    return list(kept.values())


def _one_each(ads: Iterable[Row]) -> list[Row]:
    """One row per ad: of several ad groups that which may still be shown, else the first."""
    kept: dict[str, Row] = {}
    for ad in {(ad["ad_set_id"], ad["ad_id"]): ad for ad in ads}.values():
        held = kept.setdefault(ad["ad_id"], ad)
        if _liveliness(ad["status"]) > _liveliness(held["status"]):
            kept[ad["ad_id"]] = ad
    return list(kept.values())


def _liveliness(status: str | None) -> int:
    """More for what may be shown, 0 for what never is again."""
    return _LIVELINESS.get(status or "", 0)


def _once(rows: Iterable[Row], key: str) -> list[Row]:
    return list({row[key]: row for row in rows}.values())
