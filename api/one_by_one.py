"""Work for many tenants in one chore: what fails for one of them is told, and keeps nobody behind it waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import structlog

from api import errors

log = structlog.get_logger("api.worker")

Item = TypeVar("Item")


class Round:
    """Which of those that are due a turn takes: the next ones by id, and the first again behind the last.

    What fails stays due, so a turn that always took the first of them would keep those behind it waiting for good.
    """

    def __init__(self) -> None:
        self._after = ""

    def turn(self, due: Callable[[str], Sequence[str]]) -> Sequence[str]:
        """What `due` gives: ids in order, some of those greater than the one it is told."""
        found = due(self._after) or (due("") if self._after else ())
        self._after = found[-1] if found else ""
        return found


def never() -> bool:
    """What a chore is given to ask before each of its items where nobody ends it: whether to begin no further one."""
    return False


def one_by_one(
    chore: str, items: Mapping[str, Item], do: Callable[[Item], int], ended: Callable[[], bool] = never
) -> int:
    """The sum of what `do` gives for each item, by id in their order; each opens transactions of its own.

    One that raises counts as nothing and is logged with its id. It stays due, so the chore's next turn tries it again.
    Raises what is everybody's trouble: those behind would only meet it too.
    """
    done = 0
    for name, item in items.items():
        if ended():
            break
        try:
            done += do(item)
        except Exception as problem:
            if is_everybodys(problem):
                raise
            log.exception("chore_failed", chore=chore, of=name, exc_info=problem)
    return done


def is_everybodys(problem: Exception) -> bool:
    """Whether the published figures or names cannot be read, whoever asks."""
    return isinstance(problem, errors.ApiError) and problem.code is errors.DATABASE_UNAVAILABLE
