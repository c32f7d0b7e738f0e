"""A pooler, such as PgBouncer, that stands before a Postgres and gives its connections to many."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa


def listen(engine: sa.Engine) -> None:
    """Prepare no statement on connections that a pooler made.

    Whoever gets the same connection of the server next prepares other statements under the same names.
    """

    def look(connection: Any, _record: Any) -> None:
        # the driver was told the number of who answered it, which is no process of the server's where a pooler did
        ((its_process,),) = connection.execute("select pg_backend_pid()").fetchall()
        connection.commit()
        if its_process != connection.info.backend_pid:
            connection.prepare_threshold = None

    sa.event.listen(engine, "connect", look)
