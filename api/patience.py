"""How long a Postgres is waited for: to let us in, to answer, and to be done with what somebody else holds.

And that it plans each statement for what is asked, since a plan for whatever may be asked keeps everybody waiting.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

# seconds, and milliseconds for a line that breaks: by themselves drivers and systems wait minutes for who is gone, and
# two hours where what was asked had arrived; after 10 seconds of silence four signs of life, 5 seconds apart, are asked
CONNECTING = {
    "connect_timeout": 10,
    "tcp_user_timeout": 30_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
}
# the server as long for us: what a machine that is gone had locked is locked until then
LINE = {
    "tcp_user_timeout": "30s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "4",
}
# a statement that was asked ten times is else planned once for all values: without knowing how much a span of time or a
# status holds, it reads all rows of a log for each page, and all deliveries for `/readyz`
PLANNED = {"plan_cache_mode": "force_custom_plan"}
# as long as SQLite is waited for
LOCKED = {"lock_timeout": "10s"}
# what an operator set for the server, the database, the user or in the address stays
SET = "select set_config(name, given, false) from pg_settings join (values {}) as ours (name, given) using (name)"
UNSET = " where source = 'default'"

# SQLSTATE of a transaction that idled or went on for longer than an operator lets one, which ends its connection, and
# of a statement that was prepared before a migration changed a column: asked again, both go through
PASSING = frozenset({"25P03", "25P04", "0A000"})

_shortened: set[str] = set()


def shorten(url: str) -> None:
    """Let no statement that this process sends from now on wait longer than ten seconds for a lock.

    For processes in which who waits holds up others: the API's threads are few, and the worker does one chore at a
    time. Connections that are open already wait as before.
    """
    _shortened.add(url)


def connecting(url: sa.URL) -> dict[str, Any]:
    """What the driver is told when it connects, but for what the address says itself."""
    # without this it speaks as the database keeps its texts, or as the environment says
    told = CONNECTING | {"client_encoding": "utf8"}
    return {name: given for name, given in told.items() if name not in url.query}


def listen(engine: sa.Engine, url: str) -> None:
    """Tell the server all of it on each new connection of an engine of Postgres."""

    def tell(connection: Any, _record: Any) -> None:
        wanted = LINE | PLANNED | (LOCKED if url in _shortened else {})
        rows = ", ".join(f"('{name}', '{given}')" for name, given in wanted.items())
        connection.execute(SET.format(rows) + UNSET).close()
        # what is set in a transaction that is rolled back is not set
        connection.commit()

    sa.event.listen(engine, "connect", tell)


def is_passing(error: sa.exc.DBAPIError) -> bool:
    """Whether the statement failed for what is over when the request comes again."""
    return getattr(error.orig, "sqlstate", None) in PASSING
