"""docs/faults.md: what was made to go wrong, and what came of it. `python -m tests.faults_page` writes it anew."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from tests.api import doors
from tests.connectors import fault_plan
from tests.connectors.fault_plan import FAULTS
from tests.connectors.walks import WALKS, small_pages
from tests.factories.addresses import ADDRESSES
from tests.factories.hostile import HOSTILE
from tests.hostile_outputs import NEVER, OUTPUTS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "faults.md"
_HEAD = """# What goes wrong outside, and what comes of it

Written by `python -m tests.faults_page`, which makes each of these things happen; the tests hold every cell.

"""
_CONNECTORS = f"""## Faults of providers

Each walk reads a small world over HTTP, first while the fault strikes it {fault_plan.PASSING} times, then while it
begins midway and never ends, then once more when it is over. A cell says how many requests the first and the second
took, and how many they may take: the pages of the undisturbed walk (first line), begun again as often as the fault
makes it necessary, and the repeats of one request. What came before a walk ended is whole days and whole lists, equal
to the ledger; after the fault everything is. `{NEVER}`: it cannot happen there.

"""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of the page."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


_ADDRESSES = """## Addresses that lead inside

Each form of an address, at each place where one comes in that we would call. Refused: nobody was dialled. Logos,
pictures of ads, pages to return to and what clients of OAuth name of themselves are passed on, never fetched; a shop is
named by its provider, by a handle of letters, digits and hyphens. A name is resolved once, checked, and dialled as it
was checked; redirects are not followed.

"""

_NAMES = f"""## Names of ads that are meant to do something

Somebody who can write an ad chooses its name. Each of these was given to ads (campaigns, where a report lists those)
and followed to every place where it is shown. Text: the page is built as with harmless names, and the name is among its
words. A name that the lake refuses comes out nowhere (`{NEVER}`). The models of dbt hand each on as it is.

"""


@cache
def cells() -> dict[tuple[str, str], str]:
    """Every cell of the page as it is committed, by the first cell of its line and the head of its column."""
    found: dict[tuple[str, str], str] = {}
    heads: list[str] = []
    for line in PAGE.read_text().splitlines():
        parts = [part.strip() for part in line.strip("|").split(" | ")] if line.startswith("|") else []
        heads = heads if parts else []
        if parts and heads and parts[0] != "---":
            found |= {(parts[0], head): part for head, part in zip(heads[1:], parts[1:], strict=True)}
        heads = heads or parts
    return found


def of_connectors() -> str:
    """The table of faults and walks."""
    columns: list[list[str]] = []
    with small_pages(), fault_plan.small_sandbox() as sandbox:
        for walk in WALKS:
            pages = fault_plan.undisturbed(sandbox, walk).requests
            column = [str(pages)]
            for fault in FAULTS:
                happens = fault_plan.happens(fault, walk)
                case = fault_plan.played(sandbox, walk, fault, pages) if happens else None
                column.append(fault_plan.told(fault, walk, case) if case else NEVER)
            columns.append([*column, str(pages) if "revised" in walk.has else NEVER])
    names = ["none", *(fault.name for fault in FAULTS), fault_plan.REVISION]
    ends = ["reads all", *(fault_plan.ending(fault) for fault in FAULTS), "reads all, as it is now"]
    return _CONNECTORS + table(
        ["Fault", "The walk", *(walk.name for walk in WALKS)], zip(names, ends, *columns, strict=True)
    )


def of_addresses() -> str:
    """The table of addresses and of the places where one is given."""
    rows = [[name, *(doors.tried(door, url) for door in doors.DOORS)] for name, url in ADDRESSES.items()]
    return _ADDRESSES + table(["Address", *doors.DOORS], rows)


def of_names() -> str:
    """The table of hostile names and of the places where names come out."""
    told: dict[str, dict[str, str]] = {}
    for output, through in OUTPUTS.items():
        with tempfile.TemporaryDirectory() as folder:
            told[output] = through(Path(folder))
    rows = [[label, *(told[output].get(label, NEVER) for output in OUTPUTS)] for label in HOSTILE]
    return _NAMES + table(["Name", *OUTPUTS], rows)


def page() -> str:
    """The whole page."""
    return (_HEAD + of_connectors() + of_addresses() + of_names()).rstrip() + "\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
