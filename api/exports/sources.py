"""Whether each source of conversions is fit to be exported from: what it lately sent, and what stands in its way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.exports.gates import Situation, law
from api.models import CollectedEvent, Connection, Event, Import, Profile, TrackingKey
from api.models.connection import ASKED
from api.served import ProfileFacts, Reader

SOURCES = (
    *("browser_tracker", "server_events", "payments", "store", "crm_import", "chatapp", "social", "ad_platform"),
    "file_import",
)
# what the snapshot calls the source of a conversion
_TOLD_BY = {
    "browser_tracker": "tracker",
    "server_events": "server_event",
    "payments": "payments",
    "store": "store",
    "crm_import": "crm",
    "chatapp": "chat",
    "file_import": "file",
}
# kind, or provider, of the connection a source needs
_NEEDS = {
    "payments": "payments",
    "store": "store",
    "chatapp": "chatapp",
    "social": "social",
    "ad_platform": "ad_platform",
}
_WAITING = ("needs_action", "reconnect_required")
DEGRADED = ("needs_action", "stale_24h", "no_identifiers", "currency_missing")
REASONS = (
    *("no_connection", "reconnect_required", "needs_action", "never_received", "stale_24h", "no_identifiers"),
    *("test_only", "currency_missing", "blocked_by_privacy_mode", "agreement_missing", "attribution_not_enabled"),
    "disabled",
)
MATCH_KEYS = ("email_pct", "phone_pct", "click_id_pct", "ad_id_pct")
DAY, WEEK = timedelta(days=1), timedelta(days=7)

_LAST = "select source, max(ts) as last_ts from conversions where profile_key = $profile_key group by source"
_LATELY = """
with lately as (
    select * from conversions where profile_key = $profile_key and ts >= $week
),
-- a campaign alone is no ad: the last touch must name one that is synced
of_ads as (
    select c.conversion_key
    from lately as c
    join paths as p on p.profile_key = $profile_key and p.conversion_key = c.path_conversion_key
    join touches as t
        on t.profile_key = $profile_key and t.person_key = p.person_key and t.position = p.p_last
    join destinations as d on d.profile_key = $profile_key and d.destination_key = t.destination_key
    where d.ad_key is not null
)
select
    c.source, count(*) filter (where c.ts >= $day) as events_24h, count(*) as events_7d,
    count(m.email_sha256) as email_pct, count(m.phone_sha256) as phone_pct,
    count(k.fbclid) as click_id_pct, count(a.conversion_key) as ad_id_pct
from lately as c
left join match_keys as m on m.profile_key = c.profile_key and m.person_key = c.person_key and not c.is_shared
left join conversion_clicks as k on k.profile_key = c.profile_key and k.conversion_key = c.conversion_key
left join of_ads as a on a.conversion_key = c.conversion_key
group by c.source
"""
_DELIVERED = """
select count(*) filter (where day >= $day) as events_24h, count(*) as events_7d
from delivery_daily where profile_key = $profile_key and level = 'ad' and day >= $week
"""
_UNRATED = "select count(*) from platforms where profile_key = $profile_key and unrated_through >= $week"
# a refund of this week may be of a payment of long ago
_UNRATED_CASH = """
select source, count(*) from conversions
where profile_key = $profile_key and is_cash and unrated_through >= $week group by source
"""


@dataclass
class Seen:
    """What a source sent; `found` counts, `of` the conversions of a week, those that a match key is known of.

    `unpriced` counts what no rate converts: payments of which such an amount was paid or taken back in a week, and
    platforms with such spend in it.
    """

    last: datetime | None = None
    day: int = 0
    week: int = 0
    found: Mapping[str, int] = field(default_factory=dict)
    of: int = 0
    unpriced: int = 0
    only_tests: bool = False
    is_off: bool = False


def rows(session: Session, profile: Profile, judged: Situation, seen: Mapping[str, Seen]) -> list[dict[str, object]]:
    """One row per source in the order of `SOURCES`."""
    connections = _connections(session, profile.id)
    return [_row(name, profile, judged, seen.get(name, Seen()), connections) for name in SOURCES]


def told(reader: Reader, facts: ProfileFacts, at: datetime) -> dict[str, Seen]:
    """What the published snapshot tells of the sources."""
    bound = {"profile_key": facts.profile_key}
    last = dict(reader.rows(_LAST, bound))
    since = {"day": int((at - DAY).timestamp()), "week": int((at - WEEK).timestamp())}
    lately = {row["source"]: row for row in reader.dicts(_LATELY, {**bound, **since})}
    days = {"day": (at - DAY).date(), "week": (at - WEEK).date()}
    unpriced = dict(reader.rows(_UNRATED_CASH, {**bound, "week": days["week"]}))
    seen = {}
    for name, source in _TOLD_BY.items():
        row = lately.get(source)
        when = datetime.fromtimestamp(last[source], UTC) if source in last else None
        seen[name] = Seen(last=when) if row is None else _seen(row, when)
        seen[name].unpriced = unpriced.get(source, 0)
    (delivered,) = reader.dicts(_DELIVERED, {**bound, **days})
    ((unrated,),) = reader.rows(_UNRATED, {**bound, "week": days["week"]})
    seen["ad_platform"] = Seen(day=delivered["events_24h"], week=delivered["events_7d"], unpriced=unrated)
    return seen


def kept(session: Session, profile: Profile, seen: dict[str, Seen], at: datetime) -> dict[str, Seen]:
    """The same, with what this database knows: events of servers and browsers and files, as they came in, and keys."""
    server = seen.setdefault("server_events", Seen())
    server.last, server.day, server.week = _received(session, profile.id, Event, at)
    lately = Event.profile_id == profile.id, Event.received_at >= at - WEEK
    tests = session.scalar(sa.select(sa.func.count()).where(*lately, Event.is_test))
    server.only_tests = 0 < server.week == tests
    loaded = sa.select(Import).where(Import.profile_id == profile.id, Import.status == "loaded")
    files = seen.setdefault("file_import", Seen())
    newest = loaded.with_only_columns(Import.created_at).order_by(Import.created_at.desc()).limit(1)
    files.last = session.scalar(newest)
    recent = session.scalars(loaded.where(Import.created_at >= at - WEEK)).all()
    files.week = sum(one.rows_loaded for one in recent)
    files.day = sum(one.rows_loaded for one in recent if one.created_at >= at - DAY)
    keys = session.scalars(sa.select(TrackingKey).where(TrackingKey.profile_id == profile.id)).all()
    tracker = seen.setdefault("browser_tracker", Seen())
    tracker.last, tracker.day, tracker.week = _received(session, profile.id, CollectedEvent, at)
    tracker.is_off = bool(keys) and all(one.revoked_at for one in keys)
    return seen


def _received(
    session: Session, profile_id: str, kind: type[Event] | type[CollectedEvent], at: datetime
) -> tuple[datetime | None, int, int]:
    """When the last event came in, and how many in a day and in a week."""
    of_profile = kind.profile_id == profile_id
    day = sa.func.count().filter(kind.received_at >= at - DAY)
    counted = sa.select(day, sa.func.count()).where(of_profile, kind.received_at >= at - WEEK)
    last = session.scalar(sa.select(sa.func.max(kind.received_at)).where(of_profile))
    return (last, *session.execute(counted).one())


def _seen(row: Mapping[str, int], when: datetime | None) -> Seen:
    found = {name: row[name] for name in MATCH_KEYS}
    return Seen(when, row["events_24h"], row["events_7d"], found, row["events_7d"])


def _connections(session: Session, profile_id: str) -> dict[str, list[Connection]]:
    """Of each kind and provider the connections, the one that serves best first, the oldest of several."""
    chosen = sa.select(Connection).where(Connection.profile_id == profile_id, Connection.status != "disconnected")
    found = defaultdict[str, list[Connection]](list)
    for one in sorted(session.scalars(chosen), key=lambda one: (one.status not in ASKED, one.created_at, one.id)):
        for name in {one.kind, one.provider}:
            found[name].append(one)
    return found


def _row(
    name: str, profile: Profile, judged: Situation, seen: Seen, connections: Mapping[str, Sequence[Connection]]
) -> dict[str, object]:
    of_source = connections.get(_NEEDS.get(name, ""), ())
    connection = next(iter(of_source), None)
    if name == "ad_platform" and connection is not None:
        seen.last = connection.synced_at
    reason = _hindrance(name, profile, judged, connection)
    waiting = next((one for one in of_source if one.status in _WAITING), None)
    if reason is None and waiting is not None:
        # also one beside others that serve: what its account sells, or spends, is told by nobody
        reason, connection = "needs_action", waiting
    reason = reason or _ailment(seen, judged.at)
    return {
        "source": name,
        "status": "ready" if reason is None else "degraded" if reason in DEGRADED else "not_ready",
        "reason_code": reason,
        "connection_id": connection.id if connection else None,
        "last_event_at": seen.last,
        "events_24h": seen.day,
        "events_7d": seen.week,
        "match_keys": {key: _percent(seen, key) for key in MATCH_KEYS},
    }


def _hindrance(name: str, profile: Profile, judged: Situation, connection: Connection | None) -> str | None:
    """What stands in the way of the source whatever it sends."""
    if name == "server_events" and profile.provisioned_by_app_id and not profile.attribution_enabled:
        return "attribution_not_enabled"
    if name in _NEEDS and connection is None:
        return "no_connection"
    if connection is not None and connection.status not in ASKED:
        return "reconnect_required" if connection.status == "reconnect_required" else "no_connection"
    if law(judged) is not None:
        return "agreement_missing"
    # stages out of a CRM are not exported where health is concerned
    return "blocked_by_privacy_mode" if name == "crm_import" and judged.is_healthcare else None


def _ailment(seen: Seen, at: datetime) -> str | None:
    if seen.is_off:
        return "disabled"
    if seen.last is None:
        return "never_received"
    if seen.only_tests:
        return "test_only"
    if seen.last < at - DAY:
        return "stale_24h"
    if seen.found and not any(seen.found.values()):
        return "no_identifiers"
    return "currency_missing" if seen.unpriced else None


def _percent(seen: Seen, key: str) -> float | None:
    return round(100 * seen.found[key] / seen.of, 1) if seen.of else None
