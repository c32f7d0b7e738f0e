"""What a storefront tells of plans: the workspace has what the merchant chose there, in whatever order it is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.datastructures import Headers

from api import db
from api.hooks import shopify_deliveries, store_effects, store_plans
from api.models import AuditEntry, Connection, Handoff, Profile, StoreDelivery, Subscription, Workspace
from api.subscriptions import standing
from tests.factories import accounts
from tests.factories.connected import to_store
from touchledger.settings import Settings

AT = datetime(2026, 11, 20, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def profile(settings: Settings) -> Profile:
    made = accounts.profile(settings.operational_url)
    with db.transaction(settings.operational_url) as session:
        session.get_one(Workspace, made.workspace_id).acquisition_source = "storefront"
    return made


@pytest.fixture
def store(settings: Settings, profile: Profile) -> Connection:
    return to_store(settings.operational_url, profile, "http://127.0.0.1:9")


def body(ref: int, state: str, plan: str = "Growth", *, begun: datetime = AT) -> dict[str, Any]:
    told = {"admin_graphql_api_id": f"gid://shopify/AppSubscription/{ref}", "name": plan, "status": state}
    return {"app_subscription": {**told, "created_at": begun.isoformat(), "price": "49.00", "currency": "USD"}}


def tell(settings: Settings, store: Connection, told: dict[str, Any], at: datetime, number: str = "d") -> str | None:
    headers = Headers({"X-Shopify-Topic": store_plans.TOPIC, "X-Shopify-Webhook-Id": f"{number}:{at.isoformat()}"})
    read = shopify_deliveries.read(headers, told, profile_id=store.profile_id, now=db.now())
    with db.transaction(settings.operational_url) as session:
        of = {"connection_id": store.id, "profile_id": store.profile_id}
        made = StoreDelivery(**of, topic=read.topic, delivery_id=read.id, occurred_at=at, facts=read.facts)
        session.add(made)
    store_effects.settle_due(settings)
    with db.transaction(settings.operational_url) as session:
        return session.get_one(StoreDelivery, made.id).outcome


def stands(settings: Settings, profile: Profile) -> tuple[str, str, str]:
    with db.transaction(settings.operational_url) as session:
        one = standing(session.get(Subscription, profile.workspace_id), db.now())
        assert session.get_one(Workspace, profile.workspace_id).stated_plan == one.plan
    return one.plan, one.status, one.billing


def chosen(settings: Settings, profile: Profile, plan: str) -> str:
    with db.transaction(settings.operational_url) as session:
        made = Handoff(kind="plan_selection", workspace_id=profile.workspace_id, plan=plan, url="https://x.example")
        made.created_at, made.expires_at = AT - HOUR, AT + 23 * HOUR
        session.add(made)
    return made.id


def ended(settings: Settings, handoff: str) -> tuple[str, str | None, Any]:
    with db.transaction(settings.operational_url) as session:
        one = session.get_one(Handoff, handoff)
        return one.status, one.reason, one.result


def test_what_the_merchant_confirmed_is_the_plan_and_completes_the_hand_off(
    settings: Settings, profile: Profile, store: Connection
) -> None:
    page = chosen(settings, profile, "growth")
    assert tell(settings, store, body(1, "PENDING"), AT) == "known"
    assert ended(settings, page)[0] == "pending"
    assert tell(settings, store, body(1, "ACTIVE"), AT + HOUR) == "told"
    assert stands(settings, profile) == ("growth", "active", "storefront")
    assert ended(settings, page) == ("completed", None, {"plan": "growth"})
    with db.transaction(settings.operational_url) as session:
        (entry,) = session.scalars(sa.select(AuditEntry))
    assert (entry.action, entry.details["after"]) == ("subscription.changed", {"plan": "growth", "status": "active"})


@pytest.mark.parametrize(("state", "end"), [("DECLINED", ("failed", "abandoned", None)), ("CANCELLED", None)])
def test_what_the_merchant_did_not_confirm_gives_nothing(
    settings: Settings, profile: Profile, store: Connection, state: str, end: Any
) -> None:
    page = chosen(settings, profile, "growth")
    assert tell(settings, store, body(1, state), AT) == "known"
    assert ended(settings, page) == (end or ("pending", None, None))
    with db.transaction(settings.operational_url) as session:
        assert session.get(Subscription, profile.workspace_id) is None


def test_what_was_told_late_of_an_earlier_plan_completes_no_newer_hand_off(
    settings: Settings, profile: Profile, store: Connection
) -> None:
    page = chosen(settings, profile, "growth")
    tell(settings, store, body(1, "ACTIVE", begun=AT - 5 * HOUR), AT - 5 * HOUR)
    assert ended(settings, page) == ("pending", None, None)


def test_another_plan_replaces_the_first_in_whatever_order_it_is_told(
    settings: Settings, profile: Profile, store: Connection
) -> None:
    later = AT + 5 * HOUR
    told = [
        (body(1, "ACTIVE"), AT),
        (body(1, "CANCELLED"), later),
        (body(2, "ACTIVE", "agency", begun=later), later + HOUR),
    ]
    for turn, order in enumerate(permutations(told)):
        with db.transaction(settings.operational_url) as session:
            session.execute(sa.delete(StoreDelivery))
            session.execute(sa.delete(Subscription))
        for what, at in order:
            tell(settings, store, what, at, f"{turn}")
        assert stands(settings, profile) == ("agency", "active", "storefront"), turn


def test_a_merchant_who_does_not_pay_is_past_due_and_then_on_starter(
    settings: Settings, profile: Profile, store: Connection
) -> None:
    tell(settings, store, body(1, "ACTIVE"), AT)
    frozen = db.now()
    assert tell(settings, store, body(1, "FROZEN"), frozen) == "told"
    assert stands(settings, profile) == ("growth", "past_due", "storefront")
    assert tell(settings, store, body(1, "ACTIVE"), frozen + HOUR) == "told"
    assert stands(settings, profile)[:2] == ("growth", "active")
    assert tell(settings, store, body(1, "FROZEN"), frozen + timedelta(minutes=30)) == "outdated"
    assert tell(settings, store, body(1, "CANCELLED"), frozen + 2 * HOUR) == "told"
    assert stands(settings, profile) == ("starter", "canceled", "storefront")


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        (body(1, "ACTIVE", "Gold"), "unknown_plan"),
        ({"app_subscription": None}, "unreadable"),
        ({"app_subscription": {"status": "ACTIVE", "name": "growth"}}, "unreadable"),
    ],
)
def test_what_names_no_plan_of_ours_changes_nothing(
    settings: Settings, profile: Profile, store: Connection, told: dict[str, Any], outcome: str
) -> None:
    assert tell(settings, store, told, AT) == outcome
    with db.transaction(settings.operational_url) as session:
        assert session.get(Subscription, profile.workspace_id) is None


def test_a_store_of_a_workspace_that_pays_by_card_sells_it_no_plan(
    settings: Settings, profile: Profile, store: Connection
) -> None:
    with db.transaction(settings.operational_url) as session:
        session.get_one(Workspace, profile.workspace_id).acquisition_source = "direct"
    assert tell(settings, store, body(1, "ACTIVE"), AT) == "noted"
    with db.transaction(settings.operational_url) as session:
        assert session.get(Subscription, profile.workspace_id) is None
