"""Keeping what was told: refused, known already, or kept whole with all that it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api import errors, rate_limit
from api.collecting import records
from api.collecting.event import Told
from api.collecting.sites import Site, mark_seen, sites_of
from api.erased_records import admitted, erased_in, is_anybody_erased
from api.models import CollectedEvent
from api.v1.events.ingest import accept
from api.warehouse_ids import identifier_id, uuid_v8
from touchledger.settings import load

PER_KEY, PER_ADDRESS = 6000, 300
TABLE = cast(sa.Table, CollectedEvent.__table__)
# built once: putting a statement together costs more than running it
INSERT = {
    kind.__name__.rpartition(".")[2]: kind.insert(TABLE)
    .on_conflict_do_nothing(index_elements=["profile_id", "event_id"])
    .returning(TABLE.c.id)
    for kind in (sqlite, postgresql)
}
_SEEN = sa.select(
    sa.func.max(sa.case((CollectedEvent.occurred_at <= sa.bindparam("at"), CollectedEvent.occurred_at))),
    sa.func.count(),
).where(CollectedEvent.visit == sa.bindparam("visit"))


@dataclass(frozen=True, slots=True)
class Signal:
    """Somebody typed an e-mail address or a phone number; `kind` and `value` in normal form."""

    anonymous_id: str
    kind: str
    value: str
    at: datetime
    signals_gpc: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request: the key it shows, where it comes from, and what it tells, or why that is nothing."""

    key: str
    address: str
    hosts: tuple[str | None, ...]
    is_automated: bool
    device: str | None
    received_at: datetime
    told: Told | Signal | errors.ApiError
    linked: str | None = None


def keep(session: Session, deliveries: Sequence[Delivery]) -> list[errors.ApiError | None]:
    """Keep the deliveries within the caller's transaction; gives of each the refusal, or None.

    An event that came before is not kept again and not refused.
    """
    return _Keeping(session, deliveries).outcomes()


class _Keeping:
    """One transaction's work: what its deliveries have in common is asked once."""

    def __init__(self, session: Session, deliveries: Sequence[Delivery]) -> None:
        self._session, self._connection, self._deliveries = session, session.connection(), deliveries
        self._sites = sites_of(self._connection, {one.key for one in deliveries})
        self._erased: dict[str, bool] = {}

    def outcomes(self) -> list[errors.ApiError | None]:
        refusals = [_unwelcome(one, self._sites.get(one.key)) for one in self._deliveries]
        welcome = [one for one, refusal in zip(self._deliveries, refusals, strict=True) if refusal is None]
        buckets = rate_limit.Locked(
            self._session, {name for one in welcome for name in (_of_address(one), _of_key(one))}
        )
        # in one order everywhere, so that two transactions with the same events never wait for each other
        for turn in sorted(range(len(refusals)), key=lambda turn: _order(self._deliveries[turn])):
            one = self._deliveries[turn]
            refusals[turn] = refusals[turn] or _charged(buckets, one) or self._taken(self._sites[one.key], one)
        buckets.write()
        mark_seen(self._connection, {self._sites[one.key]: one.received_at for one in welcome})
        return refusals

    def _taken(self, site: Site, one: Delivery) -> errors.ApiError | None:
        if isinstance(one.told, errors.ApiError):
            return one.told
        if isinstance(one.told, Signal):
            self._keep_signal(site, one.told)
        else:
            self._keep_event(site, one.told, one)
        return None

    def _keep_signal(self, site: Site, signal: Signal) -> None:
        if site.captures_typed and not (signal.signals_gpc and site.respects_gpc):
            stated = records.identities(signal.anonymous_id, [(signal.kind, signal.value)], signal.at, typed=True)
            accept(self._session, profile_id=site.profile_id, dataset="identities", records=stated)

    def _keep_event(self, site: Site, event: Told, one: Delivery) -> None:
        visit = uuid_v8(site.profile_id, "visit", f"{event.anonymous_id}\0{event.session_id}")
        consent = False if event.signals_gpc and site.respects_gpc else event.consent
        occasion = self._occasion(site, event, visit)
        goal = site.goal_of(event.name)
        told = {"device": one.device, "consent_marketing": consent, "linked_identifier_id": one.linked}
        body = records.page_event(event, site.profile_id, opens_visit=occasion is not None, told=told)
        if not self._insert(site, event, visit, goal.conversion_key if goal else None, body):
            return
        becoming: dict[str, list[records.Record]] = {}
        if occasion is not None:
            becoming["touches"] = [records.touch(event, visit=visit, occasion=occasion, consent=consent)]
        if goal is not None:
            becoming["conversions"] = [records.conversion(event, goal)]
        if event.known:
            becoming["identities"] = records.identities(event.anonymous_id, event.known, event.occurred_at)
        if event.names:
            becoming["personal_names"] = records.names(event)
        for dataset, made_of in becoming.items():
            accept(self._session, profile_id=site.profile_id, dataset=dataset, records=made_of)

    def _insert(self, site: Site, event: Told, visit: str, conversion_type: str | None, body: records.Record) -> bool:
        """Keep the event itself; False when it is here already."""
        left = self._of_nobody_erased(site.profile_id, body)
        is_known = left.get("anonymous_id") is not None
        row = {
            "profile_id": site.profile_id,
            # of somebody erased it is told without the person
            "event_id": left["event_id"],
            "event_name": event.name,
            "conversion_type": conversion_type,
            "occurred_at": event.occurred_at,
            "received_at": event.received_at,
            "visitor": identifier_id(site.profile_id, "anonymous_id", event.anonymous_id) if is_known else None,
            "visit": visit if is_known else None,
            "body": left,
        }
        return self._connection.execute(INSERT[self._connection.dialect.name], row).first() is not None

    def _occasion(self, site: Site, event: Told, visit: str) -> str | None:
        """What opens a visit here; None for an event that goes on with one.

        Parameters in the page's address always do, since somebody followed a link again; their touch is the same for
        pages of the same visit. Else the first event does, and the first one after the visitor was away for long.
        """
        if event.page.parameters:
            return "parameters"
        if records.is_return(event):
            return None
        before, events = self._connection.execute(_SEEN, {"visit": visit, "at": event.occurred_at}).one()
        if before is not None and event.occurred_at - before < site.idle:
            return None
        return event.event_id if events else "first"

    def _of_nobody_erased(self, profile_id: str, body: records.Record) -> Mapping[str, Any]:
        if profile_id not in self._erased:
            self._erased[profile_id] = is_anybody_erased(self._session, profile_id)
        if not self._erased[profile_id]:
            return body
        key = load().signing_key()
        erased = erased_in(self._session, [body], profile_id=profile_id, key=key)
        (left,) = admitted([body], profile_id=profile_id, key=key, erased=erased)
        return left


def _unwelcome(one: Delivery, site: Site | None) -> errors.ApiError | None:
    if site is None:
        return errors.UNAUTHORIZED()
    try:
        site.require(*one.hosts)
    except errors.ApiError as refusal:
        return refusal
    if one.is_automated:
        return errors.FORBIDDEN("Automated visitors are not counted.", reason="automated_visitor")
    return None


def _of_key(one: Delivery) -> str:
    return f"collect:{one.key}"


def _of_address(one: Delivery) -> str:
    return f"collect-from:{one.address}"


def _charged(buckets: rate_limit.Locked, one: Delivery) -> errors.ApiError | None:
    for name, limit in ((_of_address(one), PER_ADDRESS), (_of_key(one), PER_KEY)):
        wait = buckets.charge(name, limit=limit, grain=rate_limit.SECOND).retry_after
        if wait is not None:
            return errors.RATE_LIMIT_EXCEEDED(reason="request_rate", headers={"Retry-After": str(wait)})
    return None


def _order(one: Delivery) -> tuple[str, str]:
    return one.key, one.told.event_id if isinstance(one.told, Told) else ""
