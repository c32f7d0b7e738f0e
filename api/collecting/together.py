"""Several requests of one process share one transaction: a disk flush costs more than all else that an event does.

Whoever comes first keeps everything that waits; the others find theirs kept. Each is answered once it is committed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy.orm import Session

from api import db
from api.once import Once

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

MOST = 64


@dataclass
class _Waiting(Generic[Item, Outcome]):
    item: Item
    outcome: Outcome | None = None
    problem: Exception | None = None
    is_done: bool = False


class Together(Generic[Item, Outcome]):
    """Keeps items with `keep`, which gives one outcome for each, in their order."""

    def __init__(self, url: str, keep: Callable[[Session, Sequence[Item]], Sequence[Outcome]]) -> None:
        self._url, self._keep = url, keep
        self._queue: deque[_Waiting[Item, Outcome]] = deque()
        self._turn = threading.Lock()

    def __call__(self, item: Item) -> Outcome | None:
        """Keep one item, and give its outcome when that is committed. Raises what keeping it raised."""
        waiting: _Waiting[Item, Outcome] = _Waiting(item)
        self._queue.append(waiting)
        with self._turn:
            while not waiting.is_done:
                self._settle([self._queue.popleft() for _ in range(min(len(self._queue), MOST))])
        if waiting.problem is not None:
            raise waiting.problem
        return waiting.outcome

    def _settle(self, batch: list[_Waiting[Item, Outcome]]) -> None:
        try:
            with db.transaction(self._url) as session:
                outcomes = self._keep(session, [one.item for one in batch])
        except Exception as problem:
            if len(batch) > 1:
                # one that fails does not take the others with it
                for one in batch:
                    self._settle([one])
                return
            batch[0].problem = problem
        else:
            for one, outcome in zip(batch, outcomes, strict=True):
                one.outcome = outcome
        for one in batch:
            one.is_done = True


@Once
def together(url: str, keep: Callable[[Session, Sequence[Item]], Sequence[Outcome]]) -> Together[Item, Outcome]:
    """The one of this process for a database and a way of keeping."""
    return Together(url, keep)
