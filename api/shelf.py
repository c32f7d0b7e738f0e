"""What is kept in memory of one open snapshot: it cannot change, so what was read of it once need not be read again."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar, cast

# what was used this lately is not put away for something else: two that take turns would push each other out for ever
BUSY_SECONDS = 30.0
MEBIBYTE = 1024 * 1024


class Kept(Protocol):
    """Anything that knows how many bytes it holds."""

    @property
    def size(self) -> int: ...


Thing = TypeVar("Thing", bound=Kept)


class Shelf:
    """At most `limit` MiB; what was not used for longest goes first. Safe to share between threads."""

    def __init__(self, limit: int) -> None:
        self._most, self._size = limit * MEBIBYTE, 0
        self._lock = threading.Lock()
        # each with its bytes, which are counted once, and when it was last used
        self._held: OrderedDict[Hashable, tuple[Kept, int, float]] = OrderedDict()
        self._reading: defaultdict[Hashable, threading.Lock] = defaultdict(threading.Lock)

    def find(self, place: Hashable) -> Kept | None:
        """What stands there, or None."""
        with self._lock:
            if place not in self._held:
                return None
            found, size, _ = self._held[place]
            self._held[place] = (found, size, time.monotonic())
            self._held.move_to_end(place)
            return found

    def has_room(self, size: int) -> bool:
        """Whether so many bytes could be kept, once what nobody used lately is put away."""
        with self._lock:
            busy_since = time.monotonic() - BUSY_SECONDS
            busy = sum(held for _, held, used_at in self._held.values() if used_at > busy_since)
            return size + busy < self._most

    def keep(self, place: Hashable, thing: Kept) -> None:
        """Put something there, and put away what no longer fits. The first of two stays."""
        size = thing.size
        with self._lock:
            if place in self._held:
                return
            self._held[place] = (thing, size, time.monotonic())
            self._size += size
            while self._size > self._most:
                _, (_, oldest, _) = self._held.popitem(last=False)
                self._size -= oldest

    def get(self, place: Hashable, read: Callable[[], Thing]) -> Thing:
        """What stands there; else what `read` gives, kept if there is room for it.

        Threads that ask for the same at once wait for the first of them to read it.
        """
        found = self.find(place)
        if found is None:
            with self._lock:
                alone = self._reading[place]
            with alone:
                found = self.find(place)
                if found is None:
                    found = read()
                    if self.has_room(found.size):
                        self.keep(place, found)
        return cast(Thing, found)
