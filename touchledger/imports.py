"""`touchledger import`: files into the lake, with what became of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from api.models import Import
from orchestration.importer import CannotImportError, import_file
from orchestration.lake import Lake
from orchestration.readers import legible
from touchledger.output import Output, spelt
from touchledger.settings import Settings


def run(output: Output, settings: Settings, *, dataset: str, files: Sequence[Path], profile_id: str | None) -> None:
    """Import the files one by one; exits with 1 when one was rejected, after the others were loaded."""
    lake, imports = Lake(settings.lake), []
    for path in files:
        try:
            with output.working(f"Read {escape(spelt(legible(path.name)))}"):
                imports.append(
                    import_file(settings.operational_url, lake, dataset=dataset, path=path, profile_id=profile_id)
                )
        except CannotImportError as error:
            raise click.ClickException(str(error)) from None
    bare = "\n".join(f"{one.rows_in}\t{one.rows_loaded}\t{one.rows_quarantined}" for one in imports)
    output.result(bare, [_record(one) for one in imports], _table(imports))
    for one in imports:
        if one.rows_quarantined:
            output.warn(_left_out(one))
    rejected = [one for one in imports if one.status != "loaded"]
    if rejected:
        raise click.ClickException("; ".join(str(one.reason) for one in rejected))


def _record(done: Import) -> dict[str, Any]:
    names = ("file_name", "status", "reason", "rows_in", "rows_loaded", "rows_quarantined", "errors")
    return {name: getattr(done, name) for name in names}


def _left_out(done: Import) -> str:
    """How many rows of a file are in no figure, why the first, and what tells the others."""
    # of a file that was imported before an erasure none may be kept
    first = next((f", the first (row {one['row']}) for {_fault(one)}" for one in done.errors), "")
    told = f"`touchledger status --rows {done.dataset}` tells each"
    return f"{done.file_name}: {done.rows_quarantined:,} of {done.rows_in:,} rows are in quarantine{first}; {told}."


def _fault(error: Mapping[str, Any]) -> str:
    return f"{error['field']}: {error['reason']}" if error["field"] else str(error["reason"])


def _table(imports: list[Import]) -> Table:
    table = Table("file", "status", box=None)
    for heading in ("rows", "loaded", "quarantined"):
        table.add_column(heading, justify="right")
    for one in imports:
        counts = (f"{count:,}" for count in (one.rows_in, one.rows_loaded, one.rows_quarantined))
        table.add_row(Text(spelt(one.file_name)), one.status, *counts)
    return table
