"""GET /conversion-sync/data-sources: nine rows, and the one reason that somebody must look at first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from api import db
from api.exports.sources import SOURCES
from api.models import CollectedEvent, Event, Import, Profile, TrackingKey
from api.reading import timestamp
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.factories import exports, people, served
from tests.fixtures.statements import statements
from touchledger.settings import Settings


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.EXPORTS_READ])


def told(key: Caller) -> dict[str, dict[str, Any]]:
    response = key.get("/conversion-sync/data-sources")
    assert response.status_code == 200, response.text
    rows = response.get_json()["data"]
    assert [row["source"] for row in rows] == list(SOURCES)
    return {row["source"]: row for row in rows}


def reasons(key: Caller) -> dict[str, str | None]:
    return {name: row["reason_code"] for name, row in told(key).items()}


def add(url: str, *rows: Any) -> None:
    with db.transaction(url) as session:
        session.add_all(rows)


def publish(settings: Settings, profile: Profile, *conversions: dict[str, Any], **more: list[dict[str, Any]]) -> None:
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    known = {"profile_key": 1, "person_key": 1, "email_sha256": "a" * 64, "is_refused": False}
    of_first = {"profile_key": 1, "conversion_key": 1, "person_key": 1, "fbclid": "AbC", "clicked_s": 1}
    clicks = [of_first] if any("person_key" in one for one in conversions if one["conversion_key"] == 1) else []
    told = {"conversions": conversions, "match_keys": [known], "conversion_clicks": clicks}
    served.publish(settings.published, {"profiles": [facts], **told, **more})


def conversion(number: int, source: str, *, hours_ago: float = 1, **more: Any) -> dict[str, Any]:
    at = db.now() - timedelta(hours=hours_ago)
    row: dict[str, Any] = {"profile_key": 1, "conversion_key": number, "conversion_id": str(number), "source": source}
    row |= {"day": at.date(), "occurred_at": at.replace(tzinfo=None), "ts": int(at.timestamp()), "is_cash": False}
    return {**row, **more}


def test_a_new_profile_has_received_nothing_and_is_connected_to_nothing(key: Caller) -> None:
    assert reasons(key) == {
        **dict.fromkeys(("browser_tracker", "server_events", "crm_import", "file_import"), "never_received"),
        **dict.fromkeys(("payments", "store", "chatapp", "social", "ad_platform"), "no_connection"),
    }
    assert {row["status"] for row in told(key).values()} == {"not_ready"}


def test_a_source_that_sent_today_is_ready_with_the_share_of_people_that_can_be_found(
    key: Caller, url: str, profile: Profile, settings: Settings
) -> None:
    till = exports.connection(url, profile, provider="stripe", kind="payments")
    found, lost = conversion(1, "payments", person_key=1), conversion(2, "payments", hours_ago=48)
    before = conversion(3, "crm", hours_ago=30, person_key=1)
    publish(settings, profile, found, lost, before)
    rows = told(key)
    paid = rows["payments"]
    assert (paid["status"], paid["reason_code"], paid["connection_id"]) == ("ready", None, till.id)
    assert (paid["events_24h"], paid["events_7d"]) == (1, 2)
    assert paid["match_keys"] == {"email_pct": 50.0, "phone_pct": 0.0, "click_id_pct": 50.0, "ad_id_pct": 0.0}
    assert (rows["crm_import"]["status"], rows["crm_import"]["reason_code"]) == ("degraded", "stale_24h")
    # no click came before it
    assert rows["crm_import"]["match_keys"]["click_id_pct"] == 0.0
    assert rows["server_events"]["match_keys"]["email_pct"] is None


def test_a_conversion_whose_last_touch_names_a_campaign_alone_has_no_ad_id(
    key: Caller, profile: Profile, settings: Settings
) -> None:
    own = {"profile_key": 1, "person_key": 1}
    # an ad; a campaign alone; a renewal, which goes by its first payment's path; direct
    paths, campaigns = (1, 2, 1, 4), (9, 9, 9, None)
    sent = [
        conversion(number, "crm", path_conversion_key=path, last_touch_campaign=campaign, **own)
        for number, (path, campaign) in enumerate(zip(paths, campaigns, strict=True), start=1)
    ]
    ad = {"profile_key": 1, "destination_key": 7, "campaign_key": 9, "ad_set_key": 10, "ad_key": 11}
    campaign, none = {"profile_key": 1, "destination_key": 8, "campaign_key": 9}, {"profile_key": 1}
    lasts = {1: 7, 2: 8, 4: 6}
    publish(
        settings, profile, *sent, destinations=[ad, campaign, {**none, "destination_key": 6}],
        paths=[{**own, "conversion_key": one, "p_from": 1, "p_last": one} for one in lasts],
        touches=[
            {**own, "position": one, "destination_key": to, "touch_id": str(UUID(int=one))} for one, to in lasts.items()
        ],
    )  # fmt: skip
    assert told(key)["crm_import"]["match_keys"]["ad_id_pct"] == 50.0


def test_conversions_of_nobody_or_without_a_rate_are_told(
    key: Caller, url: str, profile: Profile, settings: Settings
) -> None:
    exports.connection(url, profile, provider="shopify", kind="store")
    priceless = conversion(2, "crm", person_key=1, is_cash=True, unrated_through=db.now().date())
    publish(settings, profile, conversion(1, "store"), priceless)
    assert (reasons(key)["store"], reasons(key)["crm_import"]) == ("no_identifiers", "currency_missing")


def test_a_refund_without_a_rate_is_told_in_its_own_week_however_old_the_payment(
    key: Caller, url: str, profile: Profile, settings: Settings
) -> None:
    """The payment had its cash, so the refund that was left out of every figure was told of nowhere."""
    exports.connection(url, profile, provider="shopify", kind="store")
    today, paid = db.now().date(), {"person_key": 1, "is_cash": True, "cash_minor": 1000, "hours_ago": 2000}
    lately = conversion(2, "crm", unrated_through=today, **paid)
    before = conversion(4, "store", unrated_through=today - timedelta(days=9), **paid)
    publish(settings, profile, conversion(1, "crm", person_key=1), lately, conversion(3, "store", person_key=1), before)
    assert (reasons(key)["crm_import"], reasons(key)["store"]) == ("currency_missing", None)


@pytest.mark.parametrize(("days_ago", "reason"), [(0, "currency_missing"), (7, "currency_missing"), (9, None)])
def test_spend_of_the_week_that_no_rate_converts_is_told(
    key: Caller, url: str, profile: Profile, settings: Settings, days_ago: int, reason: str | None
) -> None:
    """With rates that end, spend went down to 0 in every figure, and nothing said why."""
    exports.connection(url, profile, synced_at=db.now())
    unrated = {"profile_key": 1, "platform": "meta", "unrated_through": (db.now() - timedelta(days=days_ago)).date()}
    publish(settings, profile, platforms=[unrated, {"profile_key": 1, "platform": "google"}])
    row = told(key)["ad_platform"]
    assert (row["status"], row["reason_code"]) == ("degraded" if reason else "ready", reason)


@pytest.mark.parametrize("status", ["needs_action", "reconnect_required"])
def test_a_connection_that_needs_somebody_is_told(key: Caller, url: str, profile: Profile, status: str) -> None:
    exports.connection(url, profile, status=status)
    assert reasons(key)["ad_platform"] == status


@pytest.mark.parametrize("status", ["needs_action", "reconnect_required"])
@pytest.mark.parametrize("first", [True, False])
def test_an_account_that_waits_for_somebody_is_told_beside_one_that_serves(
    key: Caller, url: str, profile: Profile, status: str, first: bool
) -> None:
    # of two ad accounts only the better one was seen, and the source was ready
    told_of = {"external_account_id": "act_2", "status": status}
    accounts: list[dict[str, Any]] = [told_of, {}] if first else [{}, told_of]
    made = [exports.connection(url, profile, synced_at=db.now(), **one) for one in accounts]
    row = told(key)["ad_platform"]
    waiting = made[accounts.index(told_of)].id
    assert (row["reason_code"], row["status"], row["connection_id"]) == ("needs_action", "degraded", waiting)


def test_events_and_files_count_as_they_came_in(key: Caller, url: str, profile: Profile) -> None:
    add(url, Event(id=db.new_id(), profile_id=profile.id, fingerprint="f", is_test=True))
    assert reasons(key)["server_events"] == "test_only"
    add(url, Event(id=db.new_id(), profile_id=profile.id, fingerprint="f"))
    loaded = Import(profile_id=profile.id, scope=profile.id, dataset="touches", file_name="a", sha256="0" * 64)
    loaded.status, loaded.rows_loaded = "loaded", 7
    add(url, loaded)
    rows = told(key)
    assert (rows["server_events"]["reason_code"], rows["server_events"]["events_24h"]) == (None, 2)
    assert (rows["file_import"]["reason_code"], rows["file_import"]["events_7d"]) == (None, 7)


def test_what_the_profile_may_not_do_comes_before_what_it_received(key: Caller, url: str, profile: Profile) -> None:
    app = people.app(url).app
    with db.transaction(url) as session:
        kept = session.get_one(Profile, profile.id)
        kept.privacy_mode, kept.provisioned_by_app_id, kept.attribution_enabled = "platform_safe", app.id, False
    assert reasons(key)["server_events"] == "attribution_not_enabled"
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).provisioned_by_app_id = None
    assert reasons(key)["crm_import"] == "blocked_by_privacy_mode"
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "hipaa"
    assert reasons(key)["file_import"] == "agreement_missing"


def test_what_waits_for_an_apps_agreement_is_not_ready(key: Caller, url: str, profile: Profile) -> None:
    app = people.app(url).app
    with db.transaction(url) as session:
        kept = session.get_one(Profile, profile.id)
        kept.provisioned_by_app_id, kept.attribution_enabled = app.id, True
    assert reasons(key)["server_events"] == "agreement_missing"


def test_a_tracker_whose_keys_are_all_revoked_is_off(key: Caller, url: str, profile: Profile) -> None:
    add(url, TrackingKey(profile_id=profile.id, key="one", name="site", revoked_at=db.now()))
    assert reasons(key)["browser_tracker"] == "disabled"
    add(url, TrackingKey(profile_id=profile.id, key="two", name="site", last_seen_at=db.now()))
    assert reasons(key)["browser_tracker"] == "never_received"
    add(url, page_view(profile, hours_ago=0))
    assert reasons(key)["browser_tracker"] is None


def test_a_tracker_is_told_by_all_that_pages_told_and_its_match_keys_by_the_outcomes_it_brought(
    key: Caller, url: str, profile: Profile, settings: Settings
) -> None:
    """Beside a last event of this minute stood none of a week, where a site's visitors looked and bought nothing."""
    publish(settings, profile, conversion(1, "tracker", person_key=1), conversion(2, "tracker", hours_ago=48))
    add(url, TrackingKey(profile_id=profile.id, key="one", name="site", last_seen_at=db.now()))
    views = [page_view(profile, hours_ago=hours) for hours in (2, 3, 30, 200)]
    add(url, *views)
    row = told(key)["browser_tracker"]
    assert (row["status"], row["events_24h"], row["events_7d"]) == ("ready", 2, 3)
    assert row["last_event_at"] == timestamp(views[0].received_at)
    assert row["match_keys"]["email_pct"] == 50.0


def page_view(profile: Profile, *, hours_ago: int) -> CollectedEvent:
    at = db.now() - timedelta(hours=hours_ago, minutes=1)
    return CollectedEvent(
        profile_id=profile.id, event_id=f"view-{hours_ago}", event_name="page_view", occurred_at=at, received_at=at
    )


def test_events_of_a_week_are_counted_without_reading_those_before(key: Caller, url: str) -> None:
    engine = db.engine_for(url, durable=False)
    with statements(engine) as run:
        told(key)
    asked = [one for one in run if "FROM events" in one[0]]
    with engine.connect() as connection:
        plans = [connection.exec_driver_sql(f"explain query plan {one}", values).all() for one, values in asked]
    assert len(plans) == 3
    assert all("COVERING INDEX ix_events_received (profile_id=?" in plan[0].detail for plan in plans)
