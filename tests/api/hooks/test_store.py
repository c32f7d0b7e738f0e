"""Deliveries of stores: signed over the bytes, kept once, answered at once, and acted on by the worker."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from pydantic import SecretStr
from werkzeug.test import TestResponse

from api import db
from api.erased import digest
from api.hooks import store_effects
from api.http import Application
from api.models import (
    AuditEntry,
    Connection,
    ConnectionSync,
    ErasedIdentifier,
    Erasure,
    Handoff,
    IngestedRecord,
    Profile,
    StoreDelivery,
    StorePurge,
)
from api.warehouse_ids import identifier_id
from data_contracts.contract import inbound
from data_contracts.judge import judge
from tests.factories import accounts, served
from tests.factories.connected import reload, to_store
from tests.factories.store_deliveries import BEFORE, SECRET, SHOP, signed
from touchledger.settings import Settings

UNKNOWN = "01900000-0000-7000-8000-000000000000"
ANN = {"id": 7, "email": "Ann@Example.com", "phone": "+14155550123"}


@pytest.fixture
def listening(settings: Settings) -> Settings:
    secrets = {"store_secret": SecretStr(SECRET), "store_secret_before": SecretStr(BEFORE)}
    return settings.model_copy(update=secrets)


@pytest.fixture
def profile(settings: Settings) -> Profile:
    return accounts.profile(settings.operational_url)


@pytest.fixture
def connection(settings: Settings, profile: Profile) -> Connection:
    return to_store(settings.operational_url, profile, "http://127.0.0.1:9")


@pytest.fixture
def client(assembled: Application, listening: Settings, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    monkeypatch.setitem(assembled.config, "SETTINGS", listening)
    return assembled.test_client()


@pytest.fixture
def deliver(client: FlaskClient, connection: Connection) -> Callable[..., TestResponse]:
    def sent(topic: str, body: Any = None, *, to: str | None = None, **options: Any) -> TestResponse:
        content, headers = signed(topic, {"id": 1} if body is None else body, **options)
        return client.post(f"/hooks/store/{to or connection.id}", data=content, headers=headers)

    return sent


@pytest.fixture
def effect(deliver: Callable[..., TestResponse], listening: Settings) -> Callable[..., StoreDelivery]:
    """Delivers, lets the worker act, and gives the delivery as it is kept then."""

    def acted(topic: str, body: Any = None, **options: Any) -> StoreDelivery:
        assert deliver(topic, body, **options).status_code == 200
        store_effects.settle_due(listening)
        return kept(listening)[-1]

    return acted


def kept(settings: Settings) -> list[StoreDelivery]:
    with db.transaction(settings.operational_url) as unit:
        return list(unit.scalars(sa.select(StoreDelivery).order_by(StoreDelivery.id)))


def all_of(settings: Settings, model: Any) -> list[Any]:
    with db.transaction(settings.operational_url) as unit:
        return list(unit.scalars(sa.select(model)))


@pytest.mark.parametrize(("secret", "status"), [(SECRET, 200), (BEFORE, 200), ("shpss_another", 401), ("", 401)])
@pytest.mark.parametrize("topic", ["products/update", "shop/redact"])
def test_only_what_a_secret_of_the_app_signed_is_kept(
    deliver: Callable[..., TestResponse], settings: Settings, secret: str, status: int, topic: str
) -> None:
    assert deliver(topic, secret=secret).status_code == status
    assert len(kept(settings)) == (status == 200)


def test_the_signature_is_judged_before_the_body_and_the_connection(deliver: Callable[..., TestResponse]) -> None:
    for options in ({"body": b"{not json"}, {"to": UNKNOWN}, {"to": "no-id"}, {"shop": "other.myshopify.com"}):
        assert deliver("products/update", secret="shpss_another", **options).status_code == 401
    assert deliver("products/update", b"{not json").status_code == 400
    assert deliver("products/update", b"[1]").status_code == 400
    assert deliver("", {"id": 1}).status_code == 400
    assert deliver("products/update", to=UNKNOWN).status_code == 404
    assert deliver("products/update", to="no-id").status_code == 404
    assert deliver("products/update", shop="other.myshopify.com").status_code == 404
    lines = [{"id": one, "name": "x" * 2_500} for one in range(500)]  # refused, an order cost the store's webhook
    for times, status in ((1, 200), (4, 413)):
        assert deliver("orders/updated", {"id": 5, "line_items": lines * times}).status_code == status


def test_a_deployment_without_an_app_takes_nothing(
    client: FlaskClient, settings: Settings, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(client.application.config, "SETTINGS", settings)
    content, headers = signed("products/update", {"id": 1})
    answer = client.post(f"/hooks/store/{connection.id}", data=content, headers=headers)
    assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)


@pytest.mark.parametrize("header", ["X-Shopify-Webhook-Id", "x-shopify-event-id"])
def test_a_delivery_is_kept_once_under_either_spelling_of_its_id(
    deliver: Callable[..., TestResponse], settings: Settings, header: str
) -> None:
    for _ in range(2):
        assert deliver("orders/updated", {"id": 5, "email": "ann@example.com"}, number_header=header).status_code == 200
    assert deliver("orders/updated", {"id": 5}, number_header=header, number="d-2").status_code == 200
    found = kept(settings)
    assert [(row.topic, row.facts["order_id"]) for row in found] == [("orders/updated", "5")] * 2
    assert "ann" not in str([row.facts for row in found])


def test_two_topics_of_one_event_are_two_deliveries(deliver: Callable[..., TestResponse], settings: Settings) -> None:
    for topic in ("orders/updated", "orders/paid"):
        deliver(topic, number_header="X-Shopify-Event-Id", number="e-1")
    assert [(row.topic, row.event_id) for row in kept(settings)] == [("orders/updated", "e-1"), ("orders/paid", "e-1")]


def test_a_deleted_product_reaches_the_lake_as_deleted_and_as_it_was_last_known(
    effect: Callable[..., StoreDelivery], settings: Settings, profile: Profile
) -> None:
    product = {"profile_key": 1, "product_id": "9", "connection_ref": SHOP, "title": "Boots", "currency": "EUR"}
    facts = {"time_zone": "UTC", "currency": "USD", "currency_digits": 2, "settings_version": "v"}
    tables = {
        "profiles": [{"profile_key": 1, "profile_id": profile.id, **facts}],
        "products": [{**product, "updated_at": "2026-09-02 10:00:00", "status": "active"}],
    }
    served.publish(settings.published, tables)
    # the store tells of it before the last change that is known: the deletion is still the last word
    told = effect("products/delete", {"id": 9}, X_Shopify_Triggered_At="2026-09-01T10:00:00.5Z")
    (record,) = [row.record for row in all_of(settings, IngestedRecord)]
    assert told.outcome == "deleted"
    assert (record["title"], record["currency"], record["status"]) == ("Boots", "EUR", "deleted")
    assert record["updated_at"] == "2026-09-02T10:00:00+00:00"
    assert judge(inbound()["products"], [record]).rejected == []


def test_a_product_that_nobody_knew_is_deleted_all_the_same(
    effect: Callable[..., StoreDelivery], settings: Settings
) -> None:
    effect("products/delete", {"id": 9})
    (record,) = [row.record for row in all_of(settings, IngestedRecord)]
    assert (record["connection_ref"], record["product_id"], record["currency"]) == (SHOP, "9", "USD")


def test_a_deleted_order_is_withdrawn_as_of_its_deletion(
    effect: Callable[..., StoreDelivery], settings: Settings, profile: Profile
) -> None:
    told = effect("orders/delete", {"id": 5}, X_Shopify_Triggered_At="2026-09-01T10:00:00.5Z")
    (row,) = all_of(settings, IngestedRecord)
    assert (told.outcome, row.dataset, row.profile_id) == ("deleted", "orders", profile.id)
    of_order = {"connection_ref": SHOP, "order_id": "5"}
    assert row.record == {**of_order, "updated_at": "2026-09-01T10:00:00.500000+00:00", "_deleted": True}
    assert judge(inbound()["orders"], [row.record]).rejected == []


def test_changes_wait_for_the_next_sync(effect: Callable[..., StoreDelivery], settings: Settings) -> None:
    told = effect("products/update", {"id": 9, "updated_at": "2026-09-01T10:00:00-05:00"})
    assert (told.outcome, told.facts) == ("noted", {"product_id": "9", "updated_at": "2026-09-01T15:00:00+00:00"})
    assert all_of(settings, IngestedRecord) == []


def test_an_uninstalled_app_has_no_token_left(
    effect: Callable[..., StoreDelivery], settings: Settings, connection: Connection
) -> None:
    assert effect("app/uninstalled", {"id": 1}).outcome == "disconnected"
    found = reload(settings.operational_url, connection)
    assert (found.status, found.token) == ("reconnect_required", "")
    assert [row.action for row in all_of(settings, AuditEntry)] == ["connection.lost"]
    assert effect("app/uninstalled", {"id": 1}, number="d-2").outcome == "known"


@pytest.mark.parametrize(("told_at", "outcome"), [("11:59:59", "outdated"), ("12:00:00", "disconnected")])
def test_an_uninstall_that_is_told_late_takes_no_newer_grant_away(
    effect: Callable[..., StoreDelivery], settings: Settings, connection: Connection, profile: Profile,
    told_at: str, outcome: str,
) -> None:  # fmt: skip
    granted = datetime(2026, 3, 10, 12, tzinfo=UTC)
    with db.transaction(settings.operational_url) as unit:
        of = {"workspace_id": profile.workspace_id, "profile_id": profile.id, "connection_id": connection.id}
        plain = {"kind": "connect", "url": "http://127.0.0.1:9", "expires_at": granted + timedelta(hours=1)}
        unit.add(Handoff(**of, **plain, status="completed", ended_at=granted))
        unit.add(Handoff(**of, **plain, status="failed", ended_at=granted + timedelta(hours=1)))
    assert effect("app/uninstalled", X_Shopify_Triggered_At=f"2026-03-10T{told_at}Z").outcome == outcome
    expected = {"outdated": "active", "disconnected": "reconnect_required"}[outcome]
    assert reload(settings.operational_url, connection).status == expected


def test_a_customer_of_the_store_is_erased_with_all_that_is_known_of_them(
    effect: Callable[..., StoreDelivery], listening: Settings, profile: Profile
) -> None:
    order = {"profile_key": 1, "order_id": "51", "connection_ref": SHOP, "email_id": "hash-of-the-order"}
    facts = {"time_zone": "UTC", "currency": "USD", "currency_digits": 2, "settings_version": "v"}
    email = identifier_id(profile.id, "email", "ann@example.com")
    one = {"profile_key": 1, "person_ref": "p", "alias_ref": "a", "person_key": 1}
    tables = {
        "profiles": [{"profile_key": 1, "profile_id": profile.id, **facts}],
        "orders": [{**order, "created_at": "2026-09-02 10:00:00", "updated_at": "2026-09-02 10:00:00"}],
        "person_identifiers": [{**one, "identifier_id": email}, {**one, "identifier_id": "the-device"}],
    }
    served.publish(listening.published, tables)
    told = effect("customers/redact", {"customer": ANN, "orders_to_redact": [*range(1_000, 1_600), 51]})
    assert (told.outcome, told.facts) == ("erased", {})
    phone = identifier_id(profile.id, "phone", ANN["phone"])
    hashes = {digest(listening.signing_key(), one) for one in (email, phone, "the-device", "hash-of-the-order")}
    assert {row.digest for row in all_of(listening, ErasedIdentifier)} == hashes
    (erasure,) = all_of(listening, Erasure)
    assert (erasure.status, erasure.reference) == ("received", "shopify:d-1")
    again = effect("customers/redact", {"customer": ANN, "orders_to_redact": []}, number="d-2")
    assert (again.outcome, len(all_of(listening, Erasure))) == ("nobody", 1)


def test_what_became_known_of_an_erased_person_since_is_erased_too(
    effect: Callable[..., StoreDelivery], listening: Settings, profile: Profile
) -> None:
    effect("customers/redact", {"customer": {"id": 7, "email": ANN["email"]}})
    told = effect("customers/redact", {"customer": ANN}, number="d-2")
    assert told.outcome == "erased"
    ids = [identifier_id(profile.id, "email", "ann@example.com"), identifier_id(profile.id, "phone", ANN["phone"])]
    hashes = {digest(listening.signing_key(), one) for one in ids}
    assert {row.digest for row in all_of(listening, ErasedIdentifier)} == hashes
    counts = [row.counts["identities_removed"] for row in all_of(listening, Erasure)]
    assert counts == [1, 1]


def test_a_request_for_data_is_put_before_the_workspaces_admins(
    effect: Callable[..., StoreDelivery], settings: Settings
) -> None:
    told = effect("customers/data_request", {"shop_domain": SHOP, "customer": ANN, "orders_requested": [51]})
    assert (told.outcome, told.facts) == ("recorded", {})
    (entry,) = all_of(settings, AuditEntry)
    assert (entry.action, entry.category, entry.details["orders"]) == ("customer.data_requested", "privacy", ["51"])
    assert "ann" not in str(entry.details).lower()


def test_a_shop_that_is_redacted_is_disconnected_and_its_copy_is_to_go(
    effect: Callable[..., StoreDelivery], settings: Settings, connection: Connection
) -> None:
    effect("app/uninstalled")
    assert effect("shop/redact", {"shop_domain": SHOP}, number="d-2").outcome == "redacted"
    assert reload(settings.operational_url, connection).status == "disconnected"
    assert [row.connection_id for row in all_of(settings, StorePurge)] == [connection.id]
    assert effect("shop/redact", {"shop_domain": SHOP}, number="d-3").outcome == "redacted"


def test_the_sync_that_waits_for_a_redacted_shop_ends_with_it(
    effect: Callable[..., StoreDelivery], settings: Settings, connection: Connection
) -> None:
    with db.transaction(settings.operational_url) as unit:
        unit.get_one(Connection, connection.id).status_reason = "throttled"
        unit.add(ConnectionSync(connection_id=connection.id, profile_id=connection.profile_id))
    effect("shop/redact", {"shop_domain": SHOP})
    (sync,) = all_of(settings, ConnectionSync)
    assert (sync.status, sync.error, sync.finished_at is None) == ("failed", "disconnected", False)
    assert reload(settings.operational_url, connection).status_reason is None


def test_deliveries_for_an_archived_profile_do_nothing(
    effect: Callable[..., StoreDelivery], settings: Settings, profile: Profile
) -> None:
    with db.transaction(settings.operational_url) as unit:
        unit.get_one(Profile, profile.id).archived_at = db.now()
    assert effect("products/delete", {"id": 9}).outcome == "archived"
    assert all_of(settings, IngestedRecord) == []
    told = effect("customers/redact", {"customer": ANN, "orders_to_redact": [51]}, number="d-2")
    assert (told.outcome, told.facts) == ("archived", {})


@pytest.mark.parametrize("told_at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_delivery_told_at_a_time_outside_the_calendar_is_taken(
    effect: Callable[..., StoreDelivery], told_at: str
) -> None:
    assert effect("products/delete", {"id": 9}, X_Shopify_Triggered_At=told_at).outcome
