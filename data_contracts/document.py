"""docs/data.md, made from the contracts: `python -m data_contracts.document` writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from data_contracts.contract import Column, Contract, inbound, internal, served

PAGE = Path(__file__).resolve().parent.parent / "docs" / "data.md"

HEAD = """# Data sets

Made from `data_contracts/` by `python -m data_contracts.document`; a test fails when it differs.

## How rows are judged

- **Files** are `.csv` (RFC 4180, with a header, UTF-8), `.jsonl` or `.parquet`; the first two may be `.gz`. Put them in
  `inbox/<profile id>/<data set>/` (`inbox/_shared/fx_rates/` for exchange rates) or give them to `touchledger import`.
  Copy under a name that starts with a dot and rename, so that no half file is seen. `touchledger status` tells which
  files of the inbox are not loaded, and why.
- **Columns** come in any order, and those that are not required may be missing, in a file with a column `_deleted` all
  but the key's. A column that is not listed here makes the whole file wrong, unless its name starts with `x_`: such a
  column is kept and not used.
- **Values**: an empty CSV cell, a JSON null and blank text are null, and a CSV row of such cells is none. A timestamp
  is ISO 8601 with its offset (`2026-01-31T09:30:00+01:00`), a date `2026-01-31`, a decimal plain with a point
  (`12.50`, never `1e3`), a boolean `true` or `false`, a list JSON text in CSV and a list elsewhere. A whole number has
  no decimals, nor in Parquet any other scale than 0. Text is trimmed and put into Unicode's NFC. E-mail addresses are
  lower-cased, phone numbers become E.164; `+1 415 555 0100` needs its country code.
- **Key**: a later row replaces the earlier one whole. Later is the greater `updated_at` where it is given, then the
  later file, then the later line. `_deleted` true, allowed in every set, withdraws the row; it needs only the key,
  and without `updated_at` takes all that landed before it.
- **Bad rows** go to quarantine with the field and the reason, and never stop a file: rows in = loaded + quarantined.
  Among them: money without currency, an unknown currency (those that ended since 2010 are known), NaN, negative spend,
  times before 2000 or more than one day ahead, ids that a spreadsheet has rounded (`1.20212E+17`), which would make one
  of many. `touchledger replay` judges them again after a fix. A file that is
  broken as a file (columns, encoding, damaged gzip, ragged lines, a key twice in one JSON object) is rejected whole,
  and nothing of it is loaded.
- The same bytes given again change nothing, unless they were judged by an older contract: `touchledger import` then
  judges them anew.
"""


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join(
        [HEAD, *_folder("Inbound", inbound()), *_folder("Internal", internal()), *_folder("Served", served())]
    )


def _folder(title: str, contracts: Mapping[str, Contract]) -> Iterator[str]:
    yield f"## {title}\n"
    for contract in contracts.values():
        yield from _contract(contract)


def _contract(contract: Contract) -> Iterator[str]:
    yield f"### {contract.name}\n"
    key = f" Key: {', '.join(f'`{name}`' for name in contract.keys)}." if contract.keys else ""
    yield f"{contract.grain}{key}\n"
    yield from (f"- {rule.description}" for rule in contract.rules)
    yield from [""] if contract.rules else []
    yield "| Column | Type | Required | Meaning |\n| --- | --- | --- | --- |"
    yield from (_row(column) for column in contract.columns)
    yield ""


def _row(column: Column) -> str:
    required = "yes" if column.required else ""
    meaning = column.description.replace("|", "\\|")
    return f"| `{column.name}` | {_type(column)} | {required} | {meaning} |"


def _type(column: Column) -> str:
    parts = [column.format.replace("_", " ") if column.format else _kind(column)]
    if column.allowed:
        parts = ["one of " + ", ".join(f"`{value}`" for value in column.allowed)]
    if column.pattern:
        parts.append(f"`{column.pattern}`".replace("|", "\\|"))
    if column.max_length:
        parts.append(f"at most {column.max_length}")
    if column.minimum is not None:
        parts.append(f"from {column.minimum}")
    if column.above is not None:
        parts.append(f"above {column.above}")
    if column.maximum is not None:
        parts.append(f"to {column.maximum:,}")
    if column.default is not None:
        default = str(column.default).lower() if isinstance(column.default, bool) else column.default
        parts.append(f"default `{default}`")
    return ", ".join(parts)


def _kind(column: Column) -> str:
    # a served figure that is never rounded is no decimal of the raw files
    if column.kind == "decimal" and column.physical != "double":
        return f"decimal({column.precision},{column.scale})"
    return "double" if column.kind == "decimal" else column.kind


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
