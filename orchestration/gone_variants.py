"""Variants that a store deleted: nothing tells of one but that its product is listed without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from connectors.store import Row
from orchestration.landed_facts import AS_THEY_ARE


def with_withdrawals(found: Mapping[str, Sequence[Row]], landed: Path, connection_ref: str) -> dict[str, list[Row]]:
    """A store's rows by data set, `variants` with a withdrawal of each that landed and its product lists no more.

    `landed` is the folder of what its provider told of variants. A product that was not listed keeps its own.
    """
    listed = {row["variant_id"] for row in found["variants"]}
    known = _known(landed, connection_ref, [row["product_id"] for row in found["products"]])
    gone = [
        {"connection_ref": connection_ref, "variant_id": number, "_deleted": True} for number in sorted(known - listed)
    ]
    return {name: [*rows, *(gone if name == "variants" else ())] for name, rows in found.items()}


def _known(landed: Path, connection_ref: str, products: Sequence[str]) -> set[str]:
    files = [str(path) for path in landed.glob("*.parquet")]
    if not files or not products:
        return set()
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"select distinct variant_id from read_parquet(?, {AS_THEY_ARE})"  # noqa: S608
            " where connection_ref = ? and list_contains(?, product_id) and not _deleted",
            [files, connection_ref, products],
        ).fetchall()
    return {number for (number,) in rows}
