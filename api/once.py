"""Things of which a process has one, however many threads ask for the first at the same moment."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar
from weakref import WeakMethod

P = ParamSpec("P")
R = TypeVar("R")


class Once(Generic[P, R]):
    """A function whose answer to the same arguments is made once; they must be hashable.

    `functools.cache` alone lets threads that ask together make one each. All but one of those are lost, and with them
    the connections that an engine had opened.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        update_wrapper(self, function)
        self._made: Any = cache(function)
        self._lock = threading.Lock()
        # a lock that a thread of the parent held would stay locked in the child for ever; who is gone needs none
        held = WeakMethod(self._unlock)
        os.register_at_fork(after_in_child=lambda: (unlock := held()) and unlock())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            found: R = self._made(*args, **kwargs)
        return found

    def forget(self) -> None:
        """The next call makes its answer anew."""
        self._made.cache_clear()

    def _unlock(self) -> None:
        self._lock = threading.Lock()
