"""`touchledger status`: what is served, of which profiles, how fresh its sources are, what was left out and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import click
import sqlalchemy as sa
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from api.db import transaction
from api.models import Connection, Import
from api.snapshot_files import OpenSnapshot, Unopenable
from data_contracts.contract import landed
from data_contracts.records import as_json
from orchestration import pointer
from orchestration.inbox import not_loaded
from orchestration.ingested import waiting
from orchestration.lake import Lake
from orchestration.quarantine import counted, rows
from orchestration.raw_rows import RawRows
from orchestration.unrated import unrated
from touchledger.account_lists import profiles
from touchledger.doctor_files import disk
from touchledger.output import Output
from touchledger.settings import Settings
from touchledger.tables import table

TABLES = ("profiles", "connections", "data_sets", "files_not_loaded", "quarantine", "money_without_a_rate")


def report(output: Output, settings: Settings) -> None:
    """Print the snapshot, profiles, connections, data sets, and what of files, rows and money is in no figure."""
    current = pointer.read(settings.published)
    # first, for it tells of a damaged file of the lake by its name
    quarantine = list(_quarantine(settings))
    refused, without_rate = _looked_into(settings, current.file) if current else (None, [])
    snapshot = {**asdict(current), "refused": refused} if current else None
    data = {
        "snapshot": snapshot,
        "events_waiting": waiting(settings.operational_url),
        "profiles": profiles(settings),
        "connections": list(_connections(settings)),
        "data_sets": list(_data_sets(settings)),
        "files_not_loaded": [asdict(one) for one in not_loaded(settings)],
        "quarantine": quarantine,
        "money_without_a_rate": without_rate,
    }
    if refused and output.is_bare:
        output.warn(_state_of(snapshot))
    output.result(current.snapshot_id if current else "", data, *_shown(data))
    if (room := disk(settings.home)).verdict == "fail":
        output.warn(f"disk: {room.found} - {room.way_out}")


def _looked_into(settings: Settings, file: str) -> tuple[str | None, list[dict[str, Any]]]:
    """What keeps the API of this version from serving a published file (damage, or what it lacks after an upgrade).

    Else which money is in none of its figures.
    """
    try:
        opened = OpenSnapshot(settings.published / file, settings)
    except Unopenable as problem:
        return str(problem), []
    with opened.connection as snapshot:
        return None, unrated(snapshot)


def _connections(settings: Settings) -> Iterator[dict[str, Any]]:
    with transaction(settings.operational_url) as session:
        found = session.scalars(sa.select(Connection).order_by(Connection.created_at, Connection.id)).all()
    for one in found:
        yield {
            "connection": one.display_name,
            "provider": one.provider,
            "status": one.status,
            "reason": one.status_reason,
            "landed_through": one.synced_through,
            "synced_at": one.synced_at,
        }


def _data_sets(settings: Settings) -> Iterator[dict[str, Any]]:
    for name, contract in landed().items():
        raw = RawRows(settings, contract)
        if not raw.is_empty:
            yield {"dataset": name, "rows": raw.rows, "batches": raw.batches, "newest_landing": raw.watermark}


def _quarantine(settings: Settings) -> Iterator[dict[str, Any]]:
    lake = Lake(settings.lake)
    for name in landed():
        for reason in counted(lake, name):
            yield {"dataset": name, **asdict(reason)}


def report_rows(output: Output, settings: Settings, dataset: str) -> None:
    """Print every record of a data set in quarantine. Raises ClickException for an unknown set."""
    if dataset not in landed():
        raise click.ClickException(f"there is no data set {dataset!r}; known are {', '.join(landed())}")
    with transaction(settings.operational_url) as session:
        loaded = sa.select(Import).where(Import.dataset == dataset, Import.rows_quarantined > 0)
        names = {(one.profile_id, one.sha256): one.file_name for one in session.scalars(loaded)}
    found = (
        {
            "profile_id": one.landing.profile_id,
            "source": one.landing.source,
            "batch": names.get((one.landing.profile_id, one.landing.batch), one.landing.batch),
            "row": one.line,
            "field": one.field,
            "reason": one.reason,
            "corrected": one.is_corrected,
            "record": one.record,
        }
        for one in rows(Lake(settings.lake), dataset)
    )
    output.listing(found, partial(_records, f"{dataset} in quarantine"))


def _records(title: str, found: list[dict[str, Any]]) -> Table | Text:
    shown = [
        {**one, "corrected": "yes" if one["corrected"] else "no", "record": as_json(one["record"])} for one in found
    ]
    return table(title, shown)


def _shown(data: dict[str, Any]) -> list[Any]:
    served = escape(_state_of(data["snapshot"]))
    tables = (table(name.replace("_", " "), data[name]) for name in TABLES)
    return [f"{served}; accepted records that wait for the next build: {data['events_waiting']:,}.", *tables]


def _state_of(current: dict[str, Any] | None) -> str:
    if current is None:
        return "Nothing is served"
    built = f"snapshot {current['snapshot_id']}, built {current['built_at']}"
    if current["refused"] is None:
        return f"Serving {built}"
    return f"An API that starts now does not serve {built}: {current['refused']}; run `touchledger build`"
