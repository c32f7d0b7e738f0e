"""Work for many tenants in one chore: what fails for one of them is told, and keeps nobody behind it waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import structlog

log = structlog.get_logger("api.worker")

Item = TypeVar("Item")


def one_by_one(chore: str, items: Mapping[str, Item], do: Callable[[Item], int]) -> int:
    """The sum of what `do` gives for each item, by id in their order; each opens transactions of its own.

    One that raises counts as nothing and is logged with its id. It stays due, so the chore's next turn tries it again.
    """
    done = 0
    for name, item in items.items():
        try:
            done += do(item)
        except Exception as problem:
            log.exception("chore_failed", chore=chore, of=name, exc_info=problem)
    return done
