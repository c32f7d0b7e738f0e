"""alembic's environment: the models of `api.models`, on the connection that `api.migrate` passes in."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context

from api import models  # noqa: F401 - registers the tables
from api.db import Base, UtcDateTime
from api.sealing import SealedText


def render_item(kind: str, item: Any, autogen_context: Any) -> str | Literal[False]:
    # without this the migration names a module that it does not import
    if kind == "type" and isinstance(item, UtcDateTime):
        autogen_context.imports.add("from api.db import UtcDateTime")
        return "UtcDateTime()"
    if kind == "type" and isinstance(item, SealedText):
        return "sa.Text()"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    render_item=render_item,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
