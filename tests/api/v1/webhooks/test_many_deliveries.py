"""A page of deliveries among very many: chosen off an index, and only its own rows are read whole."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from api import db
from api.models import Profile, WebhookDelivery, WebhookEvent, WebhookSubscription
from api.scopes import Scope
from api.v1.webhooks.subscriptions import PARTS
from tests.api.conftest import Caller
from tests.factories import accounts
from tests.fixtures.statements import statements
from touchledger.settings import Settings


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.CONNECTIONS_READ])


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


def told(url: str, profile: Profile, count: int) -> list[str]:
    """Ids of deliveries to one subscriber, newest first."""
    at = db.now()
    with db.transaction(url) as session:
        to = WebhookSubscription(workspace_id=profile.workspace_id, profile_id=profile.id, url="https://a.example/")
        to.events, to.secret = ["*"], "s"
        event = WebhookEvent(workspace_id=profile.workspace_id, type="report.ready")
        session.add_all([to, event])
        session.flush()
        made = [
            WebhookDelivery(subscription_id=to.id, event_id=event.id, created_at=at - timedelta(seconds=n))
            for n in range(count)
        ]
        session.add_all(made)
        session.flush()
        return [one.id for one in made]


def test_pages_meet_every_delivery_once_newest_first(key: Caller, url: str, profile: Profile) -> None:
    ids = told(url, profile, 5)
    told(url, accounts.profile(url, name="Foreign"), 1)
    met, cursor = [], ""
    for _ in range(3):
        page = key.get(f"/webhooks/deliveries?limit=2{cursor}").get_json()
        met += [row["delivery_id"] for row in page["data"]]
        cursor = f"&cursor={page['pagination']['cursor']}"
    assert (met, page["pagination"]) == (ids, {"cursor": None, "has_next": False})


@pytest.mark.parametrize("receivers", [2, PARTS + 1])
def test_pages_over_several_receivers_meet_every_delivery_once_newest_first(
    key: Caller, url: str, profile: Profile, receivers: int
) -> None:
    made = {number: at for _ in range(2) for number, at in numbered(url, told(url, profile, 3)).items()}
    for _ in range(receivers - 2):
        told(url, profile, 0)
    met, cursor = [], ""
    while cursor is not None:
        page = key.get(f"/webhooks/deliveries?limit=4{cursor}").get_json()
        met += [row["delivery_id"] for row in page["data"]]
        following = page["pagination"]["cursor"]
        cursor = following and f"&cursor={following}"
    assert met == sorted(made, key=lambda number: (-made[number].timestamp(), number))
    assert len(key.get("/webhooks/deliveries?status=dead").get_json()["data"]) == 0


def numbered(url: str, ids: list[str]) -> dict[str, datetime]:
    with db.transaction(url) as session:
        return {one: session.get_one(WebhookDelivery, one).created_at for one in ids}


@pytest.mark.parametrize(("others", "is_narrowed"), [(0, False), (1, True), (1, False)])
def test_a_page_is_chosen_off_an_index_and_read_alone(
    key: Caller, url: str, profile: Profile, others: int, is_narrowed: bool
) -> None:
    # joined and put in order whole, 100,000 deliveries took half a second a page
    for _ in range(others):
        told(url, profile, 0)
    ids, engine = told(url, profile, 3), db.engine_for(url, durable=False)
    with db.transaction(url) as session:
        to = session.get_one(WebhookDelivery, ids[0]).subscription_id
    with statements(engine) as run:
        narrowed = f"&subscription_id={to}" if is_narrowed else ""
        assert len(key.get(f"/webhooks/deliveries?limit=1{narrowed}").get_json()["data"]) == 1
    chosen, read = (one for one in run if "FROM webhook_deliveries" in one[0])
    with engine.connect() as connection:
        plan = [step.detail for step in connection.exec_driver_sql(f"explain query plan {chosen[0]}", chosen[1])]
    read_off = [step for step in plan if "webhook_deliveries USING COVERING INDEX ix_webhook_deliveries_listed" in step]
    # those of a receiver are in order there: 460,000 were put in order for each page. Of several each gives a page
    parts = others + 1 if not is_narrowed else 1
    assert len(read_off) == parts
    assert chosen[0].count("LIMIT") == (parts + 1 if parts > 1 else 1)
    assert parts > 1 or "USE TEMP B-TREE FOR ORDER BY" not in plan
    assert [one for one in ids if one in read[1]] == ids[:1]
