"""What is pulled from each provider, and as which batches it lands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

import structlog

from api.models import Connection
from connectors.ad_platform import AdPlatform, Row, last_of_month, reach_windows
from connectors.ad_platforms import PLATFORMS, opened
from connectors.errors import ConnectorError, Refused
from connectors.payments import Payments
from connectors.shopify import Shopify
from connectors.stripe import Stripe
from connectors.transport import Transport
from data_contracts.contract import load
from orchestration.door import admitted
from orchestration.lake import Lake, Landing
from orchestration.partitions import DayRange
from orchestration.told_beside import fitting
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
    """One connection being pulled: what it gave so far, and the last day that is landed whole.

    `today` is the day it is at the provider; `days` bounds the delivery of an ad platform.
    """

    settings: Settings
    connection: Connection
    lake: Lake
    today: date
    days: DayRange
    through: date | None = None
    landings: list[Landing] = field(default_factory=list)
    failure: ConnectorError | None = None

    def land(self, dataset: str, rows: Iterable[Row], suffix: str = "") -> None:
        """Land rows as the batch `<connection id><suffix>`, replacing what it held."""
        landing = self.lake.land(
            dataset=dataset,
            profile_id=self.connection.profile_id,
            source=self.connection.provider,
            batch=self.connection.id + suffix,
            records=admitted(self.settings.operational_url, self.lake, load(dataset), self.connection.profile_id, rows),
        )
        self.landings.append(landing)

    @property
    def since(self) -> datetime | None:
        """Changes from here on are asked for; None asks for all there is."""
        if self.through is None:
            return None
        return datetime.combine(self.through - OVERLAP, time.min, UTC)


def pull_ads(pull: Pull) -> None:
    """Entities whole, delivery day by day, the reach of windows, breakdowns; a day lands only when all of it came."""
    first, last = pull.days.first, min(pull.days.last, pull.today)
    connection = pull.connection
    with Transport() as transport:
        platform = opened(pull.settings, connection.provider, connection.access, transport)
        for dataset, rows in platform.entities().items():
            pull.land(dataset, rows)
        for day, rows in platform.delivery(first, last):
            pull.land("ad_delivery", rows, f"-{day.isoformat()}")
            pull.through = max(day, pull.through or day)
        # whole months, so that a month's batch always holds all of its windows
        until = min(last_of_month(last), pull.today)
        for month, rows in _by_month(platform.reach(reach_windows(first.replace(day=1), until))):
            pull.land("entity_reach", rows, f"-{month}")
        # whole weeks, for the same reason
        newest = max(first, last - timedelta(days=BREAKDOWN_DAYS - 1))
        until = min(_monday(last) + timedelta(days=6), pull.today)
        for week, rows in _by_week(platform.breakdowns(_monday(newest), until)):
            pull.land("ad_delivery_breakdowns", rows, f"-{week}")
        _land_studies(pull, platform)


def _land_studies(pull: Pull, platform: AdPlatform) -> None:
    try:
        studies = platform.studies(pull.today)
    except Refused as refused:
        # few accounts may read studies, and none needs them for its figures
        log.info("no_studies", connection=pull.connection.id, reason=refused.reason)
        return
    for dataset, rows in studies.items():
        pull.land(dataset, rows)


def pull_store(pull: Pull) -> None:
    """Catalogue and orders: all of them once, later those that changed since the last pull."""
    with Transport() as transport:
        connection = pull.connection
        store = Shopify(connection.base_url, connection.token, connection.external_account_id, transport)
        _land_changes(pull, {**store.catalogue(pull.since), **store.orders(pull.since)})
    pull.through = pull.today


def pull_payments(pull: Pull) -> None:
    """Payments and refunds, all of them once, later whole weeks of what may still settle; all renewals and disputes.

    A week's batch always holds all that was made in it, so that none loses a row when it is replaced.
    """
    since = _monday(pull.through - SETTLING) if pull.through else None
    with Transport() as transport:
        processor = Stripe(pull.connection.base_url, pull.connection.token, transport)
        found = processor.payments(datetime.combine(since, time.min, UTC) if since else None)
        disputes = _disputes(pull, processor)
    contract, made = load("conversions"), found["conversions"]
    for suffix, rows in {"": made}.items() if since is None else _by_week_made(made):
        pull.land("conversions", fitting(contract, rows), suffix)
    pull.land("recurring_payments", found["recurring_payments"])
    if disputes is not None:
        pull.land("conversions", disputes, "-disputes")
    pull.through = pull.today


def _disputes(pull: Pull, processor: Payments) -> list[Row] | None:
    """None where the key was made without the right to read them: it was good for payments before these were read."""
    try:
        return processor.disputes()
    except Refused as refused:
        if refused.reason != "permission_missing":
            raise
        log.warning("no_disputes", connection=pull.connection.id, reason=refused.reason)
        return None


def _land_changes(pull: Pull, found: Mapping[str, Iterable[Row]]) -> None:
    # everything since one day is one batch: pulled again on that day, it is replaced by what contains it
    suffix = f"-since-{pull.since.date().isoformat()}" if pull.since else ""
    for dataset, rows in found.items():
        pull.land(dataset, fitting(load(dataset), rows), suffix)


def _by_week_made(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    weeks: dict[date, list[Row]] = {}
    for row in rows:
        weeks.setdefault(_monday(row["occurred_at"].date()), []).append(row)
    yield from ((f"-{week.isoformat()}", found) for week, found in sorted(weeks.items()))


def _by_month(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    months: dict[str, list[Row]] = {}
    for row in rows:
        months.setdefault(f"{row['date_to']:%Y-%m}", []).append(row)
    yield from sorted(months.items())


def _by_week(rows: Iterable[Row]) -> Iterator[tuple[date, list[Row]]]:
    weeks: dict[date, list[Row]] = {}
    for row in rows:
        weeks.setdefault(_monday(row["date"]), []).append(row)
    yield from sorted(weeks.items())


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


PULLS: dict[str, Callable[[Pull], None]] = {
    **dict.fromkeys(PLATFORMS, pull_ads),
    "shopify": pull_store,
    "stripe": pull_payments,
}
