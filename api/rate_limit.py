"""How often: an exact moving window per bucket, shared by every worker through one row of the operational database."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api import db
from api.db import connection_of
from api.models import RateUse
from api.prepared import Prepared
from touchledger.settings import Settings

SECOND = 1_000_000
WINDOW = 60 * SECOND
# no bucket's window is longer, so one unused for that long counts for nothing
LONGEST_WINDOW = 3600 * SECOND
AT_ONCE = 2_000

# built once: putting a statement together costs more than running it
TABLE = cast(sa.Table, RateUse.__table__)
READ = sa.select(TABLE.c.uses).where(TABLE.c.bucket == sa.bindparam("name")).with_for_update()
NAMES = sa.select(TABLE.c.bucket).where(TABLE.c.bucket.in_(sa.bindparam("names", expanding=True)))
READ_ALL = (
    sa.select(TABLE.c.bucket, TABLE.c.uses)
    .where(TABLE.c.bucket.in_(sa.bindparam("names", expanding=True)))
    .order_by(TABLE.c.bucket)
    .with_for_update()
)
WRITE = sa.update(TABLE).where(TABLE.c.bucket == sa.bindparam("name")).values(uses=sa.bindparam("after"))
WRITE_ONE = Prepared(WRITE)
CREATE = {kind: kind.insert(TABLE).on_conflict_do_nothing() for kind in (sqlite, postgresql)}
INSTANT: sa.ColumnClause[int] = sa.literal_column("(extract(epoch from clock_timestamp()) * 1000000)::bigint")
CLOCK = Prepared(sa.select(INSTANT))
LOCKED = READ.cte("locked")
# of one select that locks and reads the clock, Postgres would read the clock first, and then wait for the lock
READ_ONE = {"sqlite": Prepared(READ), "postgresql": Prepared(sa.select(LOCKED.c.uses, INSTANT).select_from(LOCKED))}

PAGE = (
    sa.select(TABLE.c.bucket, TABLE.c.uses)
    .where(TABLE.c.bucket > sa.bindparam("after"))
    .order_by(TABLE.c.bucket)
    .limit(AT_ONCE)
    # a bucket in use is no candidate, and its request does not wait
    .with_for_update(skip_locked=True)
)
FORGET = sa.delete(TABLE).where(TABLE.c.bucket.in_(sa.bindparam("names", expanding=True)))

Uses = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Bucket:
    """An allowance beside the request's: `limit` calls in any `window` (microseconds); `reason` names its refusal."""

    reason: str
    limit: int
    window: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a bucket. `retry_after` (whole seconds, at least 1) is set when the request was refused."""

    limit: int
    remaining: int
    retry_after: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The two headers of every authenticated answer."""
        return {"X-RateLimit-Limit": str(self.limit), "X-RateLimit-Remaining": str(self.remaining)}


def settle(
    uses: Sequence[Sequence[int]], moment: int, *, units: int, limit: int, window: int = WINDOW, grain: int = 1
) -> tuple[Uses, Allowance]:
    """Decide one request against the accepted (moment, units) pairs; all times in microseconds.

    Accepted when the units of the last `window` and the new ones stay within `limit`. Returns the pairs to keep and
    the allowance. A clock that steps back is held at the latest accepted moment, so no window ever holds more; one set
    back by more than the longest window was wrong before, and what it accepted ahead of that counts no more.
    Units of one `grain` are kept as one pair at its latest moment: a large allowance has a short list, and its units
    come free up to one grain later.
    """
    uses = [(at, spent) for at, spent in uses if at <= moment + LONGEST_WINDOW]
    moment = max([moment, *(at for at, _ in uses)])
    live = [(at, spent) for at, spent in uses if moment - at < window]
    used = sum(spent for _, spent in live)
    if used + units <= limit:
        kept = _with(live, moment, units, grain) if units else live
        return kept, Allowance(limit, limit - used - units)
    over, freed = used + units - limit, 0
    for at, spent in live:
        freed += spent
        if freed >= over:
            return live, Allowance(limit, limit - used, _seconds(at + window - moment))
    return live, Allowance(limit, limit - used, _seconds(window))


def charge(
    session: Session, bucket: str, *, units: int, limit: int, window: int = WINDOW, moment: int | None = None
) -> Allowance:
    """Charge `units` to a bucket within the caller's transaction; a refusal changes nothing.

    A bucket has the same `window` every time. Its row stays locked until the transaction ends, so keep that short.
    """
    connection = connection_of(session)
    before, now = locked(connection, bucket)
    at = now if moment is None else moment
    after, allowance = settle(before, at, units=units, limit=limit, window=window)
    if allowance.retry_after is None and units:
        WRITE_ONE.rows(connection, name=bucket, after=after)
    return allowance


class Locked:
    """Buckets of a minute locked together until the transaction ends: many requests are charged in one transaction.

    They are locked in the order of their names, so that two of these never wait for each other.
    """

    def __init__(self, session: Session, names: Collection[str]) -> None:
        self._connection, ordered = session.connection(), sorted(names)
        self._create(sorted(set(ordered) - self._known(ordered)))
        self._uses: dict[str, Uses] = self._read(ordered)
        while lost := [name for name in ordered if name not in self._uses]:
            # forgotten as unused just before they were locked
            self._create(lost)
            self._uses |= self._read(lost)
        self._changed: set[str] = set()
        self._moment = _now(self._connection)

    def charge(self, name: str, *, limit: int, grain: int = 1) -> Allowance:
        """Charge one unit; a refusal changes nothing."""
        kept, allowance = settle(self._uses[name], self._moment, units=1, limit=limit, grain=grain)
        if allowance.retry_after is None:
            self._uses[name] = kept
            self._changed.add(name)
        return allowance

    def write(self) -> None:
        """Keep what was charged."""
        if self._changed:
            self._connection.execute(WRITE, [{"name": one, "after": self._uses[one]} for one in sorted(self._changed)])

    def _known(self, names: Sequence[str]) -> set[str]:
        return set(self._connection.scalars(NAMES, {"names": names})) if names else set()

    def _create(self, missing: Sequence[str]) -> None:
        if not missing:
            return
        rows = [{"bucket": name, "uses": []} for name in missing]
        if self._connection.dialect.name != "postgresql":
            self._connection.execute(CREATE[sqlite], rows)
            return
        # whoever held a new row here while waiting for one before it would be waited for in turn
        with self._connection.engine.begin() as aside:
            aside.execute(CREATE[postgresql], rows)

    def _read(self, names: Sequence[str]) -> dict[str, Uses]:
        if not names:
            return {}
        rows = self._connection.execute(READ_ALL, {"names": names})
        return {name: [(at, spent) for at, spent in uses] for name, uses in rows}


def forget_unused(settings: Settings) -> int:
    """Drop the buckets that nobody used within the longest window, and give how many; each network has some."""
    forgotten, after = 0, ""
    while True:
        with db.transaction(settings.operational_url) as session:
            connection = session.connection()
            rows = connection.execute(PAGE, {"after": after}).all()
            now = _now(connection)
            unused = [bucket for bucket, uses in rows if not uses or not _counts(max(at for at, _ in uses), now)]
            connection.execute(FORGET, {"names": unused})
        forgotten += len(unused)
        if not rows:
            return forgotten
        after = rows[-1].bucket


def _counts(at: int, now: int) -> bool:
    """Whether what was used last at that moment may still count, in whichever window."""
    return abs(now - at) <= LONGEST_WINDOW


def _with(live: Uses, moment: int, units: int, grain: int) -> Uses:
    if live and live[-1][0] // grain == moment // grain:
        return [*live[:-1], (moment, live[-1][1] + units)]
    return [*live, (moment, units)]


def _seconds(microseconds: int) -> int:
    return max(1, -(-microseconds // SECOND))


def locked(connection: sa.Connection, bucket: str) -> tuple[Sequence[Sequence[int]], int]:
    """What was used of a bucket, which is locked from here on, and the instant after that."""
    read = READ_ONE[connection.dialect.name]
    found = read.rows(connection, name=bucket)
    if not found:
        insert = CREATE[postgresql if connection.dialect.name == "postgresql" else sqlite]
        connection.execute(insert, {"bucket": bucket, "uses": []})
        found = read.rows(connection, name=bucket)
    uses, *instant = found[0]
    return uses, instant[0] if instant else time.time_ns() // 1000


def _now(connection: sa.Connection) -> int:
    # workers on several machines share the database's clock; it must be read after the row is locked
    if connection.dialect.name == "postgresql":
        return int(CLOCK.rows(connection)[0][0])
    return time.time_ns() // 1000
