"""What is kept in memory of one open snapshot: it cannot change, so what was read of it once need not be read again."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

# what was used this lately is not put away for something else: two that take turns would push each other out for ever
BUSY_SECONDS = 30.0
MEBIBYTE = 1024 * 1024
# what a thing takes beside its bytes, as measured of one that is empty: a client may ask for any number of them
BESIDE = 5 * 1024


class Kept(Protocol):
    """Anything that knows how many bytes it holds."""

    @property
    def size(self) -> int: ...


Thing = TypeVar("Thing", bound=Kept)
Source = TypeVar("Source")


@dataclass
class Held:
    """`size`: bytes, counted once, with those beside them; `read` gives the same of another snapshot."""

    thing: Kept
    size: int
    read: Callable[[Any], Kept]
    used_at: float


@dataclass
class Turn:
    """Who reads a place, one after the other; `wanted`: how many read it or wait to."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    wanted: int = 0


class Shelf:
    """At most `limit` MiB; what was not used for longest goes first. Safe to share between threads."""

    def __init__(self, limit: int) -> None:
        self._most, self._size = limit * MEBIBYTE, 0
        self._lock = threading.Lock()
        self._held: dict[Hashable, Held] = {}
        self._reading: defaultdict[Hashable, Turn] = defaultdict(Turn)

    def find(self, place: Hashable) -> Kept | None:
        """What stands there, or None."""
        with self._lock:
            held = self._held.get(place)
            if held is None:
                return None
            held.used_at = time.monotonic()
            return held.thing

    def has_room(self, size: int) -> bool:
        """Whether so many bytes could be kept, once what nobody used lately is put away."""
        with self._lock:
            busy_since = time.monotonic() - BUSY_SECONDS
            return size + sum(held.size for held in self._held.values() if held.used_at > busy_since) < self._most

    def get(self, place: Hashable, read: Callable[[Source], Thing], source: Source) -> Thing:
        """What stands there; else what `read` gives of `source`, kept if there is room for it.

        Threads that ask for the same at once wait for the first of them to read it.
        """
        found = self.find(place)
        if found is None:
            with self._turn(place):
                found = self.find(place)
                if found is None:
                    found = self._kept(place, read, source, time.monotonic())
        return cast(Thing, found)

    def get_if_room(self, place: Hashable, read: Callable[[Source], Thing], source: Source) -> Thing | None:
        """The same, but None, and nothing read, where it does not stand there and all room is in use."""
        found = self.find(place)
        if found is None and self.has_room(0):
            return self.get(place, read, source)
        return cast(Thing | None, found)

    def put_away(self, place: Hashable) -> None:
        """Let the next who asks read it anew."""
        with self._lock:
            held = self._held.pop(place, None)
            self._size -= held.size if held else 0

    def used_within(self, seconds: float) -> list[tuple[Hashable, Held]]:
        """What somebody looked at in the last so many seconds, by its place, the latest first."""
        with self._lock:
            since = time.monotonic() - seconds
            used = [(place, held) for place, held in self._held.items() if held.used_at > since]
        return sorted(used, key=lambda one: one[1].used_at, reverse=True)

    def read_ahead(self, place: Hashable, like: Held, source: object) -> None:
        """Read what another shelf holds there, unless it stands here already; it counts as used when it was there."""
        with self._turn(place):
            if place not in self._held:
                self._kept(place, like.read, source, like.used_at)

    @contextmanager
    def _turn(self, place: Hashable) -> Iterator[None]:
        with self._lock:
            turn = self._reading[place]
            turn.wanted += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._lock:
                turn.wanted -= 1
                # as long as one waits for it, who comes now waits behind that one
                if not turn.wanted:
                    del self._reading[place]

    def _kept(self, place: Hashable, read: Callable[[Any], Kept], source: object, used_at: float) -> Kept:
        thing = read(source)
        size = thing.size + BESIDE
        if self.has_room(size):
            with self._lock:
                self._held[place] = Held(thing, size, read, used_at)
                self._size += size
                while self._size > self._most:
                    self._size -= self._held.pop(min(self._held, key=lambda one: self._held[one].used_at)).size
        return thing
