"""Chores that others may make slow, done beside the worker's other ones."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from touchledger.settings import Settings

# seconds that the worker waits for such a chore in each of its rounds
PATIENCE = 2.0


def beside(do: Callable[[Settings], int]) -> Callable[[Settings], int]:
    """A chore that is called again and again and takes at most `PATIENCE`: what is slower goes on meanwhile.

    It is not begun anew before it ended, and gives what `do` gave then, else 0; what `do` raises it raises.
    """
    pool, begun = ThreadPoolExecutor(max_workers=1), list[Future[int]]()

    def round_(settings: Settings) -> int:
        if not begun:
            begun.append(pool.submit(do, settings))
        ended, _ = wait(begun, timeout=PATIENCE)
        return begun.pop().result() if ended else 0

    return round_
