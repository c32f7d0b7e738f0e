"""What a delivery of a store changes; the worker does it after the store has been answered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import audit, connections, db
from api.audit import Attempt, target
from api.erased import digest
from api.erased_records import erased_among
from api.forgetting import forgetting
from api.hooks import store_plans
from api.models import Connection, Handoff, IngestedRecord, Profile, StoreDelivery, StorePurge
from api.one_by_one import Round, one_by_one
from api.served import profile_facts
from api.snapshot import snapshots
from api.v1.customers import erasing
from api.v1.customers.selectors import whole_person
from api.webhooks.telling import connection_changed
from connectors.errors import Revoked
from data_contracts.records import as_json
from touchledger.settings import Settings

AT_ONCE = 200
# a store tries a delivery again for two days
KEPT_FOR = timedelta(days=30)
_PRODUCT = """
select title, currency, updated_at from products
where profile_key = $profile_key and product_id = $product_id and connection_ref = $store
"""
_BUYERS = """
select email_id, phone_id from orders
where profile_key = $profile_key and connection_ref = $store and order_id in (select unnest($orders))
"""


def settle_due(settings: Settings, going_round: Round | None = None) -> int:
    """Act on deliveries that wait, oldest first, each in a transaction of its own; gives how many.

    Which ones `going_round` tells, the first ones without it.
    """

    def waiting(after: str) -> Sequence[str]:
        # ids are given in the order of time
        ids = sa.select(StoreDelivery.id).where(StoreDelivery.processed_at.is_(None), StoreDelivery.id > after)
        with db.transaction(settings.operational_url, durable=False) as session:
            return session.scalars(ids.order_by(StoreDelivery.id).limit(AT_ONCE)).all()

    found = (going_round or Round()).turn(waiting)
    return one_by_one("settle_store_deliveries", {one: one for one in found}, lambda one: _settled(settings, one))


def forgetting_old() -> Callable[[Settings], int]:
    """Drops deliveries that were settled long ago, but for those by which a record landed, a part in each round."""
    settled = StoreDelivery.processed_at.is_not(None)
    return forgetting(StoreDelivery.received_at, KEPT_FOR, settled, StoreDelivery.outcome != "deleted")


def _settled(settings: Settings, delivery_id: str) -> int:
    with db.transaction(settings.operational_url) as session:
        delivery = _held(session, delivery_id)
        if delivery is not None and delivery.processed_at is None:
            _settle(settings, session, delivery)
    return 1


def _held(session: Session, delivery_id: str) -> StoreDelivery | None:
    # its connection first, as whoever archives both does
    of = sa.select(StoreDelivery.connection_id).where(StoreDelivery.id == delivery_id).scalar_subquery()
    session.scalar(sa.select(Connection.id).where(Connection.id == of).with_for_update(key_share=True))
    return session.get(StoreDelivery, delivery_id, with_for_update=True)


def _settle(settings: Settings, session: Session, delivery: StoreDelivery) -> None:
    connection = session.get_one(Connection, delivery.connection_id)
    profile = session.get_one(Profile, delivery.profile_id)
    effect = _EFFECTS.get(delivery.topic)
    if profile.archived_at is not None:
        # the profile's data was removed before this came: nobody will clear it of who is meant
        delivery.outcome, delivery.facts = "archived", {}
    else:
        # what products and orders became is asked for by the next sync, in whatever order the store told of it
        delivery.outcome = effect(settings, session, connection, delivery) if effect else "noted"
    delivery.processed_at = db.now()


def _product_deleted(settings: Settings, session: Session, connection: Connection, delivery: StoreDelivery) -> str:
    """A deleted product is never listed again, so it is said here, as it was last known."""
    number, store = delivery.facts.get("product_id"), connection.external_account_id
    if number is None:
        return "unreadable"
    asked = {"product_id": number, "store": store}
    known = next(iter(_snapshot_rows(settings, connection.profile_id, _PRODUCT, asked)), None)
    currency = known["currency"] if known else connection.currency
    record = {
        "connection_ref": store,
        "product_id": number,
        "title": known["title"] if known else number,
        "status": "deleted",
        "currency": currency or session.get_one(Profile, connection.profile_id).reporting_currency,
        "updated_at": _after(delivery.occurred_at, known["updated_at"] if known else None).isoformat(),
    }
    return _lands(session, delivery, "products", record)


def _order_deleted(_: Settings, session: Session, connection: Connection, delivery: StoreDelivery) -> str:
    """A deleted order is never listed again, and is none of the store's sales any more."""
    number = delivery.facts.get("order_id")
    if number is None:
        return "unreadable"
    record = {
        "connection_ref": connection.external_account_id,
        "order_id": number,
        # so that no list read before and landed later brings it back
        "updated_at": delivery.occurred_at.isoformat(),
        "_deleted": True,
    }
    return _lands(session, delivery, "orders", record)


def _lands(session: Session, delivery: StoreDelivery, dataset: str, record: dict[str, Any]) -> str:
    session.add(
        IngestedRecord(
            profile_id=delivery.profile_id,
            dataset=dataset,
            record_key=delivery.deletion_key,
            fingerprint=hashlib.sha256(as_json(record).encode()).hexdigest(),
            record=record,
        )
    )
    return "deleted"


def _uninstalled(settings: Settings, session: Session, connection: Connection, delivery: StoreDelivery) -> str:
    connected = sa.select(sa.func.max(Handoff.ended_at)).where(
        Handoff.connection_id == connection.id, Handoff.kind == "connect", Handoff.status == "completed"
    )
    granted_at = session.scalar(connected)
    if granted_at is not None and delivery.occurred_at < granted_at:
        # told late: the merchant has let us in anew since
        return "outdated"
    before = connection.status
    if not connection.heard(Revoked(connection.provider, "the app was uninstalled")):
        return "known"
    connection_changed(session, connection, before, base_url=settings.base_url)
    _record(session, connection, Attempt("connection.lost", _about(connection)))
    return "disconnected"


def _customer_redacted(settings: Settings, session: Session, connection: Connection, delivery: StoreDelivery) -> str:
    orders = {"orders": delivery.facts.get("orders") or [], "store": connection.external_account_id}
    buyers = _snapshot_rows(settings, connection.profile_id, _BUYERS, orders)
    wanted = {*delivery.facts.get("identifiers", ()), *(one for row in buyers for one in row.values() if one)}
    named = frozenset[str]().union(*(whole_person(settings, connection.profile_id, one) for one in wanted))
    # whoever was erased before may have become known again by something else
    digests = {one: digest(settings.signing_key(), one) for one in named}
    gone = erased_among(session, connection.profile_id, digests.values())
    ids = frozenset(one for one in named if digests[one] not in gone)
    erasure = ids and erasing.erase(
        session,
        settings,
        profile_id=connection.profile_id,
        ids=ids,
        reason="subject_request",
        reference=f"{connection.provider}:{delivery.delivery_id}"[:120],
    )
    # hashes of who was meant are not needed any more
    delivery.facts = {}
    if not erasure:
        return "nobody"
    _record(session, connection, Attempt("customer.erased", {"target": target("erasure", erasure.id)}, "privacy"))
    return "erased"


def _data_requested(_: Settings, session: Session, connection: Connection, delivery: StoreDelivery) -> str:
    asked = {"orders": delivery.facts.get("orders") or [], **_about(connection)}
    _record(session, connection, Attempt("customer.data_requested", asked, "privacy"))
    delivery.facts = {}
    return "recorded"


def _shop_redacted(settings: Settings, session: Session, connection: Connection, _: StoreDelivery) -> str:
    connections.end(session, settings, connection)
    connection.synced_through = None
    session.merge(StorePurge(connection_id=connection.id, files_removed_at=None, completed_at=None))
    _record(session, connection, Attempt("store.redacted", _about(connection), "privacy"))
    return "redacted"


def _snapshot_rows(settings: Settings, profile_id: str, sql: str, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    with snapshots(settings).reader(None) as reader:
        facts = profile_facts(reader, profile_id) if reader else None
        return reader.dicts(sql, {"profile_key": facts.profile_key, **asked}) if reader and facts else []


def _after(at: datetime, known: datetime | None) -> datetime:
    return max(at, known.replace(tzinfo=UTC)) if known else at


def _about(connection: Connection) -> dict[str, Any]:
    return {"target": target("connection", connection.id, connection.display_name)}


def _record(session: Session, connection: Connection, attempt: Attempt) -> None:
    profile = session.get_one(Profile, connection.profile_id)
    audit.record(session, audit.Actor("system", None, profile.workspace_id, profile.id), attempt)


_EFFECTS: Mapping[str, Callable[[Settings, Session, Connection, StoreDelivery], str]] = {
    "products/delete": _product_deleted,
    "orders/delete": _order_deleted,
    "app/uninstalled": _uninstalled,
    "customers/redact": _customer_redacted,
    "customers/data_request": _data_requested,
    "shop/redact": _shop_redacted,
    store_plans.TOPIC: store_plans.plan_told,
}
