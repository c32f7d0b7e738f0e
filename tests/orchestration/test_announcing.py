"""What subscribers learn of a new snapshot: that it is there, which catalogues changed, and scores of another day."""

from __future__ import annotations

from typing import Any

import duckdb
import sqlalchemy as sa

from api.db import transaction
from api.models import Profile, Recompute, WebhookEvent
from api.warehouse_ids import uuid_v8
from orchestration import pointer
from orchestration.announcing import announce
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts, served
from tests.factories.connected import to_store
from touchledger.settings import Settings

FACTS = {"time_zone": "UTC", "currency": "USD", "currency_digits": 2, "settings_version": "v1"}


def tables(profile: Profile, *, key: int, **more: Any) -> dict[str, list[dict[str, Any]]]:
    """A snapshot with this profile under `key` and a stranger's; products are {(store, id): changed}."""
    products = [
        {"profile_key": key, "connection_ref": store, "product_id": number, "updated_at": at, "status": "active"}
        for (store, number), at in more.get("products", {}).items()
    ]
    scores = [
        {"profile_key": key, "score_window": window, "entity_key": ad, "score_date": day, "day_from": day,
         "composite_score": score}
        for day in [more["scored"]]
        for window in ("7d", "28d")
        # the third delivered, under an objective that has no weights
        for ad, score in ((1, 50), (2, 75), (3, None))
    ] if "scored" in more else []  # fmt: skip
    profiles = [
        {"profile_key": key, "profile_id": profile.id, "data_as_of": "2026-06-01 10:00:00", **FACTS,
         "delivery_through": "2026-05-31"},
        {"profile_key": 3 - key, "profile_id": "01900000-0000-7000-8000-00000000aaaa", **FACTS},
    ]  # fmt: skip
    return {"profiles": profiles, "products": products, "ad_scores": scores}


def told(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """Data of the events by kind, and none of them left for the next call."""
    found: dict[str, list[dict[str, Any]]] = {}
    with transaction(settings.operational_url) as session:
        for event in session.scalars(sa.select(WebhookEvent).order_by(WebhookEvent.id)):
            found.setdefault(event.type, []).append(event.data)
            event.type = f"seen.{event.type}"[:48]
    return {kind: data for kind, data in found.items() if not kind.startswith("seen.")}


def publish(settings: Settings, rows: dict[str, list[dict[str, Any]]], **options: Any) -> None:
    before = pointer.read(settings.published)
    served.publish(settings.published, rows)
    after = pointer.read(settings.published)
    assert after is not None
    announce(settings, after, before, **{"trigger": "schedule", **options})


def test_a_snapshot_is_told_of_with_what_it_replaces_and_why_it_was_built(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    publish(settings, tables(profile, key=1))
    assert told(settings) == {}
    subscribed(settings, profile)
    before = pointer.read(settings.published)
    publish(settings, tables(profile, key=1), trigger="import")
    after = pointer.read(settings.published)
    assert before and after
    assert told(settings) == {
        "attribution.snapshot.published": [
            {
                "snapshot_id": after.snapshot_id,
                "previous_snapshot_id": before.snapshot_id,
                "data_as_of": "2026-06-01T10:00:00.000Z",
                "delivery_through": "2026-05-31",
                "settings_version": "v1",
                "trigger": "import",
                "changed_from": None,
            }
        ]
    }
    with transaction(settings.operational_url) as session:
        session.add(Recompute(profile_id=profile.id, status="published", snapshot_id=after.snapshot_id))
    announce(settings, after, before, trigger="import")
    assert told(settings)["attribution.snapshot.published"][0]["trigger"] == "recompute"


def test_a_catalogue_is_told_of_only_where_it_changed(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    shop = to_store(settings.operational_url, profile, "http://127.0.0.1:9", external_account_id="shop")
    subscribed(settings, profile)
    first = {
        ("shop", "1"): "2026-05-01 00:00:00",
        ("shop", "2"): "2026-05-02 00:00:00",
        ("files", "1"): "2026-05-01 00:00:00",
    }
    publish(settings, tables(profile, key=1, products=first))
    found = {data["shop"]: data for data in told(settings)["catalog.updated"]}
    assert found["shop"] == {
        "connection_id": shop.id,
        "shop": "shop",
        "products_changed": 2,
        "newest_updated_at": "2026-05-02T00:00:00.000Z",
    }
    assert found["files"]["connection_id"] == uuid_v8(profile.id, "connection", "files")
    # keys of profiles are another snapshot's own
    publish(settings, tables(profile, key=2, products=first))
    assert "catalog.updated" not in told(settings)
    publish(settings, tables(profile, key=1, products={**first, ("shop", "1"): "2026-05-03 00:00:00"}))
    (changed,) = told(settings)["catalog.updated"]
    assert (changed["shop"], changed["products_changed"]) == ("shop", 1)


def test_a_snapshot_after_an_upgrade_is_told_of_though_the_earlier_one_lacks_a_column(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    publish(settings, tables(profile, key=1, scored="2026-05-30"))
    before = pointer.read(settings.published)
    assert before is not None
    with duckdb.connect(settings.published / before.file) as earlier:
        earlier.execute("alter table products drop column status")
        earlier.execute("alter table ad_scores drop column config_version")
    subscribed(settings, profile)
    publish(settings, tables(profile, key=1, scored="2026-05-31"))
    assert {"attribution.snapshot.published", "top_performers.updated"} <= told(settings).keys()


def test_scores_are_told_of_when_they_are_of_another_day(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    subscribed(settings, profile)
    publish(settings, tables(profile, key=1, scored="2026-05-30"))
    (scores,) = told(settings)["top_performers.updated"]
    assert scores == {
        "score_date": "2026-05-30",
        "config_version": 0,
        "windows": ["28d", "7d"],
        "ads_scored": 2,
        "likelihood_status": "not_applicable",
    }
    publish(settings, tables(profile, key=2, scored="2026-05-30"))
    assert "top_performers.updated" not in told(settings)
    publish(settings, tables(profile, key=2, scored="2026-05-31"))
    assert told(settings)["top_performers.updated"][0]["score_date"] == "2026-05-31"


def test_an_archived_profile_is_told_of_no_more(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    subscribed(settings, profile)
    with transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).archived_at = profile.created_at
    publish(settings, tables(profile, key=1, products={("shop", "1"): "2026-05-01 00:00:00"}))
    assert told(settings) == {}
