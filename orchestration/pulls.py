"""What is pulled from each provider, and as which batches it lands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from threading import Event
from zoneinfo import ZoneInfo

import structlog

from api.models import Connection
from connectors.ad_platform import AdPlatform, Row, days_of, last_of_month
from connectors.ad_platforms import PLATFORMS, opened
from connectors.errors import ConnectorError, Refused
from connectors.payments import Payments
from connectors.shopify import Shopify
from connectors.stripe import Stripe
from connectors.transport import Transport
from data_contracts.contract import load
from data_contracts.formats import currency_digits, time_zone
from orchestration.app_sets import land_calendar
from orchestration.door import admitted
from orchestration.gone_variants import with_withdrawals
from orchestration.lake import Lake, Landing
from orchestration.partitions import DayRange
from orchestration.studies import land_studies
from orchestration.told_beside import fitting
from orchestration.window_reach import land_reach
from touchledger.settings import Settings

log = structlog.get_logger(__name__)

# a provider's lists may lag: what changed shortly before the last pull is asked for again
OVERLAP = timedelta(days=1)
# a debit, a capture by hand or a refund settles up to a month after it was made, which is what the list goes by
SETTLING = timedelta(days=35)
# breakdowns say where most of an ad was shown: the newest days tell, and each costs a request per dimension
BREAKDOWN_DAYS = 28


@dataclass
class Pull:
    """One connection being pulled: what it gave so far, and the last day that is landed whole, as are those before it.

    `today` is the day it is at the provider; `days` bounds the delivery of an ad platform, `delivered` are those of
    them that came. `zone` is that of an ad account's days and `currency` what it pays in, once they are known.
    """

    settings: Settings
    connection: Connection
    lake: Lake
    today: date
    days: DayRange
    through: date | None = None
    delivered: list[date] = field(default_factory=list)
    landings: list[Landing] = field(default_factory=list)
    failure: ConnectorError | None = None
    zone: ZoneInfo | None = None
    currency: str | None = None
    stopped: Event = field(default_factory=Event)
    begun_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _transport: Transport | None = None

    def asking(self) -> Transport:
        """The transport of this pull, which ends with it."""
        self._transport = transport = Transport(sleep=self._wait)
        self._wait(0)
        return transport

    @property
    def requests(self) -> int:
        """How often the provider was asked anything."""
        return self._transport.requests if self._transport else 0

    def stop(self) -> None:
        """Ask the provider nothing more; a request that is under way ends by itself. Another thread may say so."""
        self.stopped.set()
        if self._transport is not None:
            self._transport.stop()

    def _wait(self, seconds: float) -> None:
        if self.stopped.wait(seconds):
            self.stop()

    def land(
        self, dataset: str, rows: Iterable[Row], suffix: str = "", *, complete_from: datetime | None = None
    ) -> None:
        """Land rows as the batch `<connection id><suffix>`, replacing what it held.

        What another pull landed since this one began stays: it may be newer than what was asked for before.
        """
        batch = self.connection.id + suffix
        own = [one.loaded_at for one in self.landings if one.changed and (one.dataset, one.batch) == (dataset, batch)]
        landing = self.lake.land(
            dataset=dataset,
            profile_id=self.connection.profile_id,
            source=self.connection.provider,
            batch=batch,
            records=admitted(self.settings.operational_url, self.lake, load(dataset), self.connection.profile_id, rows),
            complete_from=complete_from,
            asked_at=max([self.begun_at, *own]),
        )
        self.landings.append(landing)

    def landed(self, dataset: str) -> dict[str, Path]:
        """The connection's landed batches of a data set, by what their names add to its id, in order."""
        found = self.lake.named(
            dataset=dataset,
            profile_id=self.connection.profile_id,
            source=self.connection.provider,
            beginning=f"{self.connection.id}-",
        )
        return {path.stem.removeprefix(f"{self.connection.id}-"): path for path in found}

    def delivery_came(self, day: date) -> None:
        """Note that a day is landed; one after a gap does not hide the gap from the next pull."""
        self.delivered.append(day)
        # without any day landed before, the first pull begins with the history
        if self.through is None or self.through < day <= self.through + timedelta(days=1):
            self.through = day

    def end(self, day: date) -> datetime | None:
        """The instant at which the account's day is over; None where its zone is not known."""
        return datetime.combine(day + timedelta(days=1), time.min, self.zone) if self.zone else None

    @property
    def complete_through(self) -> date | None:
        """The last day that is landed whole and, of an ad account, over: in its zone, in UTC until it told that."""
        if self.through is None or self.connection.kind != "ad_platform":
            return self.through
        return min(self.through, datetime.now(self.zone or UTC).date() - timedelta(days=1))

    @property
    def since(self) -> datetime | None:
        """Changes from here on are asked for; None asks for all there is."""
        if self.through is None:
            return None
        return datetime.combine(self.through - OVERLAP, time.min, UTC)


def pull_ads(pull: Pull) -> None:
    """Entities whole, delivery day by day, breakdowns, the reach of windows; a day lands only when all of it came."""
    first, last = pull.days.first, min(pull.days.last, pull.today)
    connection = pull.connection
    with pull.asking() as transport:
        platform = opened(pull.settings, connection.provider, connection.access, transport)
        entities = _entities(platform)
        for dataset, rows in entities.items():
            pull.land(dataset, fitting(load(dataset), rows))
        pull.zone, pull.currency = _zone(pull, entities["ad_accounts"]), _currency(entities["ad_accounts"])
        for day, rows in platform.delivery(first, last):
            pull.land("ad_delivery", rows, f"-{day.isoformat()}", complete_from=pull.end(day))
            pull.delivery_came(day)
        # whole weeks, so that a week's batch always holds all of its days
        newest = max(first, last - timedelta(days=BREAKDOWN_DAYS - 1))
        until = min(_monday(last) + timedelta(days=6), pull.today)
        _land_breakdowns(pull, platform, _monday(newest), until)
        odd = land_studies(pull, platform)
        # the last, for it takes most of the requests: months that do not come now are asked for by the next pull
        land_reach(pull, platform, first, min(last_of_month(last), pull.today))
        if odd is not None:
            raise odd


def _entities(platform: AdPlatform) -> dict[str, list[Row]]:
    try:
        return platform.entities()
    except Refused as refused:
        if refused.reason != "not_found":
            raise
        # to who was taken out of an account, platforms say that there is none of that id
        told = "the token does not open the account any more"
        raise Refused(refused.provider, told, reason="permission_missing", status=refused.status) from refused


def _zone(pull: Pull, accounts: Iterable[Row]) -> ZoneInfo | None:
    """The zone of the account's days, with its calendar landed; None where the platform names none that is known."""
    for account in accounts:
        try:
            zone = time_zone(account["timezone"])
        except (TypeError, ValueError):
            continue
        land_calendar(pull.lake, zone)
        return ZoneInfo(zone)
    return None


def _currency(accounts: Iterable[Row]) -> str | None:
    # a provider may tell anything, which the judge of the rows then refuses
    told = (one["currency"] for one in accounts)
    return next((one for one in told if isinstance(one, str) and one in currency_digits()), None)


def _land_breakdowns(pull: Pull, platform: AdPlatform, since: date, until: date) -> None:
    found = _by_week(platform.breakdowns(since, until), lambda row: row["date"])
    before = pull.landed("ad_delivery_breakdowns")
    for week in sorted({_monday(day) for day, _ in days_of(since, until)} | found.keys()):
        # a week of which nothing is told any more is emptied; without a batch there is none to empty
        if week in found or str(week) in before:
            pull.land("ad_delivery_breakdowns", found.get(week, []), f"-{week}")


def pull_store(pull: Pull) -> None:
    """Catalogue, then orders: all of them once, later those that changed since the last pull that had both."""
    with pull.asking() as transport:
        connection = pull.connection
        store = Shopify(connection.base_url, connection.token, connection.external_account_id, transport)
        told = pull.lake.raw / "variants" / connection.profile_id / connection.provider
        # each by itself: a store may keep its orders from an app that it shows its products
        _land_changes(pull, with_withdrawals(store.catalogue(pull.since), told, store.connection_ref))
        _land_changes(pull, store.orders(pull.since))
        if store.withheld:
            log.warning("no_contacts", connection=connection.id, withheld=sorted(store.withheld))
    pull.through = pull.today


def pull_payments(pull: Pull) -> None:
    """Payments and refunds, all of them once, later whole weeks of what may still settle; all renewals and disputes.

    A week's batch always holds all that was made in it, so that none loses a row when it is replaced. What a key may
    not read of renewals ends the pull once all else of it is landed.
    """
    since = _monday(pull.through - SETTLING) if pull.through else None
    with pull.asking() as transport:
        processor = Stripe(pull.connection.base_url, pull.connection.token, transport)
        made = processor.payments(datetime.combine(since, time.min, UTC) if since else None)
        disputes, (renewals, refused) = _disputes(pull, processor), _renewals(processor)
    contract = load("conversions")
    weeks = {"": made} if since is None else _by_week(made, lambda row: row["occurred_at"].date())
    for week, rows in weeks.items():
        pull.land("conversions", fitting(contract, rows), f"-{week}" if week else "")
    if disputes is not None:
        pull.land("conversions", disputes, "-disputes")
    pull.through = pull.today
    if refused is not None:
        raise refused
    pull.land("recurring_payments", renewals)


def _renewals(processor: Payments) -> tuple[list[Row], Refused | None]:
    try:
        return processor.renewals(), None
    except Refused as refused:
        if refused.reason != "permission_missing":
            raise
        return [], refused


def _disputes(pull: Pull, processor: Payments) -> list[Row] | None:
    """None where the key was made without the right to read them: it was good for payments before these were read."""
    try:
        return processor.disputes()
    except Refused as refused:
        if refused.reason != "permission_missing":
            raise
        log.warning("no_disputes", connection=pull.connection.id, reason=refused.reason)
        return None


def _land_changes(pull: Pull, found: Mapping[str, Sequence[Row]]) -> None:
    # everything since one day is one batch: pulled again on that day, it is replaced by what contains it
    suffix = f"-since-{pull.since.date().isoformat()}" if pull.since else ""
    for dataset, rows in found.items():
        # nothing changes in a catalogue on most days, and each build opens a file of no rows too
        if rows or not suffix or suffix[1:] in pull.landed(dataset):
            pull.land(dataset, fitting(load(dataset), rows), suffix)


def _by_week(rows: Iterable[Row], day_of: Callable[[Row], date]) -> dict[date, list[Row]]:
    weeks: dict[date, list[Row]] = {}
    for row in rows:
        weeks.setdefault(_monday(day_of(row)), []).append(row)
    return dict(sorted(weeks.items()))


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


PULLS: dict[str, Callable[[Pull], None]] = {
    **dict.fromkeys(PLATFORMS, pull_ads),
    "shopify": pull_store,
    "stripe": pull_payments,
}
