"""What the doctor looks at where the operational database is one of Postgres; nothing of it is asked of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from api import read_only
from api.db import Base
from api.migrate import other_encoding
from orchestration.instance import SCHEMA
from touchledger.finding import Finding

# what this user may not do with a table of ours, or a sequence of one
RIGHTS = sa.text("""
    select coalesce(d.refobjid, c.oid)::regclass::text as name,
        bool_or(not pg_has_role(c.relowner, 'usage')) as is_anothers,
        bool_or(case c.relkind
            when 'S' then not has_sequence_privilege(c.oid, 'usage')
            else not (
                has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
                and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete')
            )
        end) as is_kept_from
    from pg_class as c
    left join pg_depend as d on d.objid = c.oid and c.relkind = 'S' and d.deptype in ('a', 'i')
    where c.relkind in ('r', 'S') and c.relnamespace = quote_ident(current_schema())::regnamespace
        and coalesce(d.refobjid, c.oid)::regclass::text in :ours
    group by 1 order by 1
""").bindparams(sa.bindparam("ours", expanding=True))
NAMED = 3


def kept_from(connection: sa.Connection) -> tuple[str, str] | None:
    """What a Postgres that answers keeps every command from, and the way out."""
    if connection.dialect.name != "postgresql":
        return None
    if read_only.found(connection):
        return "takes no writes", "name the server that does, or end what keeps this one from it"
    if encoding := other_encoding(connection):
        return (
            f"keeps texts in {encoding}",
            "move it into a database of the encoding UTF8: docs/runbook.md, On Postgres",
        )
    if connection.scalar(sa.text("select current_schema()")) is None:
        return "no schema of the search_path is there", "make it, or correct TOUCHLEDGER_DATABASE_URL"
    may = connection.scalar(sa.text("select has_database_privilege(current_database(), 'create')"))
    if not may and not sa.inspect(connection).has_schema(SCHEMA):
        return f"the user may not make the schema {SCHEMA}", "have it made: docs/runbook.md, On Postgres"
    return None


def rights(connection: sa.Connection) -> Iterator[Finding]:
    """The user may read and write every table, and owns it."""
    if connection.dialect.name != "postgresql":
        return
    found = connection.execute(RIGHTS, {"ours": list(Base.metadata.tables)}).all()
    if kept := [one.name for one in found if one.is_kept_from]:
        way_out = "grant select, insert, update and delete on each, and usage on its sequence, or make it the owner"
        yield Finding("database", "fail", f"the user lacks a right on {_names(kept)}", way_out)
    if anothers := [one.name for one in found if one.is_anothers]:
        way_out = "make it the owner: without that no upgrade and no erasure ends"
        yield Finding("database", "warn", f"the user does not own {_names(anothers)}", way_out)


def _names(tables: Sequence[str]) -> str:
    more = len(tables) - NAMED
    return ", ".join(tables[:NAMED]) + (f" and {more} more" if more > 0 else "")
