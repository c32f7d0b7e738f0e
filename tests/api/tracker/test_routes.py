"""GET /tracker.js: the script as a site loads it. What it does there is looked at in tests/browser."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db, tracking_keys
from api.click_ids import CLICK_IDS
from api.collecting.page import AD_IDS, UTM
from api.models import Profile, TrackerSettings, TrackingKey
from api.tracker.routes import SCRIPT
from tests.factories.deployments import application, settings_of
from touchledger.settings import Settings


@pytest.fixture
def key(settings: Settings, profile: Profile) -> TrackingKey:
    with db.transaction(settings.operational_url) as session:
        return tracking_keys.mint(session, profile.id)


def asked(client: FlaskClient, key: TrackingKey, **headers: str) -> TestResponse:
    return client.get("/tracker.js", query_string={"key": key.key}, headers=headers)


def settings_in(response: TestResponse) -> dict[str, object]:
    """What the script was given."""
    (given,) = re.findall(r"^\}\)\((.*), document\.currentScript\);$", response.text, flags=re.MULTILINE)
    found: dict[str, object] = json.loads(given)
    return found


def test_the_script_carries_the_settings_of_its_key(client: FlaskClient, key: TrackingKey) -> None:
    response = asked(client, key)
    assert (response.status_code, response.mimetype) == (200, "text/javascript")
    assert settings_in(response) == {
        "key": key.key, "capture_typed_identity": True, "session_idle_minutes": 30, "respect_gpc": True,
    }  # fmt: skip


def test_the_script_keeps_of_an_address_what_the_collector_reads_of_it() -> None:
    lists = re.findall(r'^  const (\w+) = (\["[^;]*\]);$', SCRIPT.read_text(), flags=re.MULTILINE)
    kept = {name: json.loads(written) for name, written in lists}
    assert (kept["UTM"], kept["CLICK_IDS"]) == (list(UTM), list(CLICK_IDS))
    assert kept["AD_IDS"] == ["ad_platform", *(name for names in AD_IDS.values() for name in names)]


def test_pages_of_every_site_may_load_it_and_look_every_ten_minutes(client: FlaskClient, key: TrackingKey) -> None:
    response = asked(client, key)
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "public, max-age=600"
    known = asked(client, key, **{"If-None-Match": response.headers["ETag"]})
    assert (known.status_code, known.data) == (304, b"")
    assert known.headers["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_a_changed_setting_is_another_script(
    client: FlaskClient, key: TrackingKey, settings: Settings, profile: Profile
) -> None:
    before = asked(client, key)
    with db.transaction(settings.operational_url) as session:
        session.add(TrackerSettings(profile_id=profile.id, session_idle_minutes=5, respect_gpc=False))
    after = asked(client, key, **{"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    changed = settings_in(after)
    assert (changed["session_idle_minutes"], changed["respect_gpc"]) == (5, False)
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "hipaa"
    assert settings_in(asked(client, key))["capture_typed_identity"] is False


def test_a_key_that_collects_nothing_has_no_script(
    client: FlaskClient, key: TrackingKey, settings: Settings, profile: Profile
) -> None:
    assert client.get("/tracker.js?key=trk_live_x</script>").status_code == 404
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).archived_at = db.now()
    assert asked(client, key).status_code == 404
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).archived_at = None
        session.get_one(TrackingKey, key.id).revoked_at = db.now()
    assert asked(client, key).status_code == 404


def test_what_is_no_key_has_no_script_on_either_database(home: Path, database_url: str) -> None:
    browser = application(settings_of(home, database_url)).test_client()
    # Postgres refuses a zero byte in a statement, which had been answered with 500
    assert browser.get("/tracker.js?key=trk_live_%00").status_code == 404


def test_without_a_key_it_knows_no_profile(client: FlaskClient) -> None:
    response = client.get("/tracker.js")
    assert response.status_code == 200 and ")(null, document.currentScript);" in response.text


def test_it_is_small_and_brings_nothing_along() -> None:
    script = SCRIPT.read_bytes()
    assert len(gzip.compress(script)) <= 6 * 1024
    assert not re.search(rb"\b(import|require|eval|document\.write|innerHTML|document\.cookie *=)\b", script)
