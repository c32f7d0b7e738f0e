"""Texts whose order the API tells."""

from __future__ import annotations

import sqlalchemy as sa


def ordered_text(length: int) -> sa.String:
    """A text of at most `length` characters that is in the order of its code points.

    SQLite knows no other order. Postgres has one of its own in each database, by the locale of the machine that made
    it, and another one after an upgrade of that.
    """
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")
