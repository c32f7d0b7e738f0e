"""Whether the clock is to be believed when it says that something is old: what is forgotten by it does not come back.

The state folder keeps when a worker last believed its clock. One that has leapt past that may be wrong, as that of a
machine which comes up before it has asked anybody for the time.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from touchledger.settings import Settings

log = structlog.get_logger("api.steady")

# a worker may stand still for a weekend
LEAP = timedelta(days=3)
# in so much time of running, a wrong clock has been set right or somebody has read of it
DOUBTED_SECONDS = 86400.0
NOTE_SECONDS = 60.0


@dataclass
class Clock:
    """A worker's clock, judged against the file that the workers of this state folder keep."""

    path: Path
    _looked_at: float | None = None
    _doubted: float = field(default=0.0)
    _told: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Clock:
        return cls(settings.home / "clock.json")

    def is_believed(self, now: datetime, at: float) -> bool:
        """Whether `now` may be what is forgotten by; `at` is the second of a monotonic clock at which it is asked.

        One that is more than `LEAP` after the last moment that was believed is not, until workers have run for
        `DOUBTED_SECONDS` under it.
        """
        passed = 0.0 if self._looked_at is None else at - self._looked_at
        self._looked_at = at
        believed, doubted = self._noted()
        if believed is not None and now - believed > LEAP:
            self._doubted += passed
            if doubted + self._doubted < DOUBTED_SECONDS:
                self._doubt(believed, doubted, now)
                return False
        if self._told:
            log.info("clock_believed", now=now.isoformat())
        self._told, self._doubted = False, 0.0
        if believed is None or doubted or abs(now - believed).total_seconds() >= NOTE_SECONDS:
            self._note(now, 0.0)
        return True

    def _doubt(self, believed: datetime, doubted: float, now: datetime) -> None:
        if not self._told:
            log.warning("clock_doubted", now=now.isoformat(), last_believed=believed.isoformat())
        self._told = True
        if self._doubted >= NOTE_SECONDS:
            self._note(believed, doubted + self._doubted)
            self._doubted = 0.0

    def _noted(self) -> tuple[datetime | None, float]:
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
            return datetime.fromisoformat(told["believed"]).astimezone(UTC), float(told["doubted_seconds"])
        except (OSError, ValueError, KeyError, TypeError):
            # a folder that is new, or whose file nobody can read
            return None, 0.0

    def _note(self, believed: datetime, doubted: float) -> None:
        beside = self.path.with_suffix(".new")
        # on a disk that is full, what was noted before goes on to count
        with suppress(OSError):
            beside.write_text(json.dumps({"believed": believed.isoformat(), "doubted_seconds": doubted}))
            beside.replace(self.path)
