"""What dbt looks up again and again in one run, found by the shortest way; the answers are dbt's own.

Of a small build these were a sixth: for each line of its log dbt went through the whole environment for secrets, it
compared every relation it knew with each one that it asked for, it described empty answers anew, and it read where all
loaded modules lie for the name of its caller.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import Any


def look_up_at_once() -> None:
    """Let this process's dbt take the short ways; the environment must not change any more."""
    from dbt.adapters.base.impl import BaseAdapter
    from dbt_common import behavior_flags
    from dbt_common.clients import agate_helper
    from dbt_common.events import functions
    from dbt_common.exceptions import env_secrets

    secrets, match = env_secrets(), BaseAdapter._make_match

    def make_match(self: Any, relations: list[Any], database: str, schema: str, identifier: str) -> list[Any]:
        return match(self, named(relations, identifier), database, schema, identifier)

    functions.env_secrets = lambda: secrets  # type: ignore[attr-defined]
    BaseAdapter._make_match = make_match  # type: ignore[assignment, method-assign]
    # nobody can change a table of agate
    agate_helper.empty_table = cache(agate_helper.empty_table)
    behavior_flags.BehaviorFlagRendered._default_source = staticmethod(caller_of)  # type: ignore[method-assign]


def named(relations: Iterable[Any], identifier: Any) -> list[Any]:
    """Those relations of which dbt's comparison can say anything but no, whatever their letters' case and quotes."""
    if not isinstance(identifier, str):
        return list(relations)
    wanted = identifier.lower()
    return [one for one in relations if _bare(one.identifier, one.quote_character) == wanted.strip(one.quote_character)]


def _bare(identifier: str | None, quote: str) -> str:
    return str(identifier and identifier.lower()).strip(quote)


def caller_of(own: str = "dbt_common.behavior_flags") -> str:
    """Name of the module that called into the module `own`."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == own and frame.f_back:
        frame = frame.f_back
    return str(frame.f_globals["__name__"])
