"""What stands beside an order, a payment or an ad: left out where it is none of its kind, and the row kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from connectors.attributes import CLICK, PERSON
from connectors.store import Row
from data_contracts.contract import Contract
from data_contracts.formats import Refused
from data_contracts.values import Parser, parser

BESIDE = frozenset({*PERSON, *CLICK, "email", "phone", "order_ref", "landing_url", "thumbnail_url"})
# one of them says nothing without the other
CLICK_ID = ("click_id_type", "click_id")


def fitting(contract: Contract, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, without what is told beside them in a form that the contract does not take; no row is lost."""
    moment = datetime.now(UTC)
    parsers = {
        column.name: parser(column, moment)
        for column in contract.columns
        if column.name in BESIDE and not column.required
    }
    for row in rows:
        odd = {name for name in parsers if row.get(name) is not None and not _fits(parsers[name], row[name])}
        if not odd.isdisjoint(CLICK_ID):
            odd |= {*CLICK_ID}
        yield {name: value for name, value in row.items() if name not in odd} if odd else row


def _fits(parse: Parser, value: object) -> bool:
    try:
        parse(value)
    except Refused:
        return False
    return True
