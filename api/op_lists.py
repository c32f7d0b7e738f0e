"""Lists of operational rows: a total order, keyset cursors, and `limit` from 1 to 200."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import context, pagination
from api.fields import Int
from api.pagination import CursorQuery


class ListQuery(CursorQuery):
    """`limit` and `cursor` of every list of operational rows; load filters in a schema of their own."""

    limit = Int(1, 200, load_default=50, metadata={"description": "Rows on a page."})


@dataclass(frozen=True, slots=True)
class By:
    """One column of a list's order. `value` reads it off a row; the last column of an order is an id."""

    column: sa.SQLColumnExpression[Any]
    value: Callable[[Any], Any]
    descending: bool = False


def page(
    session: Session,
    statement: sa.Select[*tuple[Any, ...]] | Sequence[sa.Select[*tuple[Any, ...]]],
    order: Sequence[By],
    query: Mapping[str, Any],
    *,
    route: str,
    owner: str,
    filters: Mapping[str, Any],
) -> list[Any]:
    """One page of `statement` in `order`, with the answer's sibling `pagination` set.

    Of several statements, which have no row in common, none is read further than a page. The columns of the order are
    selected by these, and hold no null. `owner` is the workspace, profile, person or app the list is of: a cursor is
    good only for it, for the same route and the same filters. Gives entities, or rows where several are selected.
    """
    parts = [statement] if isinstance(statement, sa.Select) else statement
    listing, key = pagination.Listing(route, owner, filters), context.settings().signing_key()
    if query["cursor"] is not None:
        place = pagination.read(key, listing, query["cursor"])
        last_seen = [_read(one, by) for one, by in zip(place.position, order, strict=True)]
        parts = [part.where(_after(order, last_seen)) for part in parts]
    result = session.execute(_first(parts, order, query["limit"] + 1)).all()
    found = [row[0] if len(row) == 1 else row for row in result]
    rows = found[: query["limit"]]
    has_next = len(found) > len(rows)
    last = [_written(by.value(rows[-1])) for by in order] if has_next else []
    context.paginate(cursor=pagination.issue(key, listing, last, None) if has_next else None, has_next=has_next)
    return rows


def _first(parts: Sequence[sa.Select[*tuple[Any, ...]]], order: Sequence[By], most: int) -> sa.Select[*tuple[Any, ...]]:
    """The first rows of all parts, of which each is read in the order as far as that."""
    firsts = [part.order_by(*(_in(by, by.column) for by in order)).limit(most) for part in parts]
    if len(firsts) == 1:
        return firsts[0]
    every = sa.union_all(*(sa.select(first.subquery()) for first in firsts)).subquery()
    names = [cast(sa.ColumnElement[Any], by.column).key or "" for by in order]
    return (
        sa.select(every).order_by(*(_in(by, every.c[name]) for by, name in zip(order, names, strict=True))).limit(most)
    )


def _in(by: By, column: sa.SQLColumnExpression[Any]) -> sa.ColumnElement[Any]:
    return column.desc() if by.descending else column.asc()


def _after(order: Sequence[By], values: Sequence[Any]) -> sa.ColumnElement[bool]:
    by, value = order[0], values[0]
    further: sa.ColumnElement[bool] = by.column < value if by.descending else by.column > value
    if len(order) == 1:
        return further
    return sa.or_(further, sa.and_(by.column == value, _after(order[1:], values[1:])))


def _written(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _read(value: Any, by: By) -> Any:
    kept = cast(sa.ColumnElement[Any], by.column).type
    return datetime.fromisoformat(value) if isinstance(kept, sa.types.TypeDecorator) else value
