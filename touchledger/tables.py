"""Rows as a table on the terminal."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from touchledger.output import spelt


def table(title: str, rows: list[dict[str, Any]]) -> Table | Text:
    """Rows of the same members under the members' names; of none, a line that says so."""
    if not rows:
        # a table without columns prints nothing, its title neither
        return Text(f"{title}: none")
    shown = Table(title=title, title_justify="left", box=None)
    for name in rows[0]:
        justify: Literal["right", "left"] = "right" if isinstance(rows[0][name], int) else "left"
        # folded where a terminal is narrow: what is cut off cannot be copied
        shown.add_column(name.replace("_", " "), justify=justify, overflow="fold")
    for row in rows:
        shown.add_row(*(_cell(value) for value in row.values()))
    return shown


def _cell(value: Any) -> Text:
    # as text, so that brackets in a name are printed and not obeyed
    if value is None:
        return Text("-")
    if isinstance(value, datetime):
        return Text(f"{value:%Y-%m-%d %H:%M} UTC")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    return Text(f"{value:,}" if isinstance(value, int) else spelt(str(value)))
