"""What a delivery of a store leaves to be told: events for subscribers, entries of the trail, and a currency."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from api import db
from api.hooks import store_effects
from api.models import AuditEntry, Connection, Erasure, IngestedRecord, Profile, StoreDelivery, WebhookEvent
from api.warehouse_ids import identifier_id
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts
from tests.factories.connected import to_store
from touchledger.settings import Settings


@pytest.fixture
def profile(settings: Settings) -> Profile:
    return accounts.profile(settings.operational_url, currency="EUR")


def acted(settings: Settings, connection: Connection, topic: str, **facts: object) -> str | None:
    """What becomes of a delivery that was kept."""
    with db.transaction(settings.operational_url) as session:
        of = {"connection_id": connection.id, "profile_id": connection.profile_id}
        made = StoreDelivery(**of, topic=topic, delivery_id="d-1", occurred_at=db.now(), facts=facts)
        session.add(made)
    store_effects.settle_due(settings)
    with db.transaction(settings.operational_url) as session:
        return session.get_one(StoreDelivery, made.id).outcome


@pytest.mark.parametrize(("of_store", "told"), [("GBP", "GBP"), (None, "EUR")])
def test_a_product_that_nobody_knew_has_the_stores_currency_or_else_the_profiles(
    settings: Settings, profile: Profile, of_store: str | None, told: str
) -> None:
    store = to_store(settings.operational_url, profile, "http://127.0.0.1:9", currency=of_store)
    assert acted(settings, store, "products/delete", product_id="9") == "deleted"
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(IngestedRecord)).one().record["currency"] == told


def test_subscribers_hear_of_an_uninstalled_app_with_the_way_back(settings: Settings, profile: Profile) -> None:
    store = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    subscribed(settings, profile)
    assert acted(settings, store, "app/uninstalled") == "disconnected"
    with db.transaction(settings.operational_url) as session:
        health, lost = session.scalars(sa.select(WebhookEvent).order_by(WebhookEvent.type))
    assert (health.type, lost.type) == ("channel.health.updated", "connection.reconnect_required")
    assert [health.data[name] for name in ("connection_id", "previous_status", "status")] == [
        store.id, "active", "reconnect_required",
    ]  # fmt: skip
    assert lost.data["reconnect_url"].startswith(f"{settings.base_url}/connect/shopify")


def test_an_erasure_that_a_store_asks_for_is_in_the_trail(settings: Settings, profile: Profile) -> None:
    store = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    ids = [identifier_id(profile.id, "email", "ann@example.com")]
    assert acted(settings, store, "customers/redact", identifiers=ids) == "erased"
    with db.transaction(settings.operational_url) as session:
        erasure = session.scalars(sa.select(Erasure)).one()
        (entry,) = session.scalars(sa.select(AuditEntry))
    assert (entry.action, entry.category, entry.outcome) == ("customer.erased", "privacy", "done")
    assert (entry.details["target"]["id"], entry.profile_id) == (erasure.id, profile.id)
    assert entry.workspace_id == profile.workspace_id
