"""Tracking keys, the tracker's settings, and asking whether a page carries the tracker."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Profile, TrackingVerification, Workspace
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.api.v1.profiles.conftest import refusal
from tests.factories import accounts
from touchledger.settings import Settings

KEYS, SETTINGS, VERIFICATIONS = "/tracking/keys", "/tracking/settings", "/tracking/verifications"
PAGE = (Path(__file__).resolve().parents[4] / "docs" / "tracking.md").read_text()
DEFAULTS = {
    "capture_typed_identity": True,
    "session_idle_minutes": 30,
    "chat_token_enabled": False,
    "respect_gpc": True,
}


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.TRACKING_WRITE])


@pytest.fixture
def stranger(client: Any, settings: Settings) -> Caller:
    other = accounts.profile(settings.operational_url, name="Other")
    return Caller(client, accounts.secret(settings.operational_url, other, scopes=[Scope.TRACKING_WRITE]))


def data(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.get_json()["data"]


def test_the_page_on_tracking_says_how_its_key_is_made(caller_with: Callable[..., Caller]) -> None:
    # the page began with a key of which nobody was told where it comes from
    (path, body) = re.findall(r"`POST /api/v1(/\S+)` with `(\{.*?\})`", PAGE)[0]
    (scope,) = re.findall(r"touchledger key mint --profile ID --scope (\S+?)`", PAGE)
    made = data(caller_with(scopes=[scope]).post(path, json=json.loads(body)), 201)
    assert made["key"].startswith("trk_live_") and made["allowed_hosts"] == []


def test_a_tracking_key_is_made_listed_and_revoked_for_good(key: Caller, stranger: Caller, settings: Settings) -> None:
    body = {"name": "Shop", "allowed_hosts": ["Shop.example", "shop.example."]}
    made = data(key.post(KEYS, json=body), 201)
    assert made["key"].startswith("trk_live_")
    assert (made["allowed_hosts"], made["status"], made["last_seen_at"]) == (["shop.example"], "active", None)
    other = data(key.post(KEYS, json={"name": "Blog"}), 201)
    assert data(key.get(KEYS)) == [made, other]
    first = key.get(KEYS, query_string={"limit": "1"}).get_json()
    rest = key.get(KEYS, query_string={"limit": "1", "cursor": first["pagination"]["cursor"]}).get_json()
    assert [first["data"], rest["data"]] == [[made], [other]]
    assert data(stranger.get(KEYS)) == []
    place = f"{KEYS}/{made['id']}"
    assert refusal(stranger("DELETE", place)) == (404, "not_found", None)
    for _ in range(2):
        assert data(key("DELETE", place)) == {**made, "status": "revoked"}
    with db.transaction(settings.operational_url) as session:
        trail = session.execute(sa.select(AuditEntry.action, AuditEntry.outcome).order_by(AuditEntry.id)).all()
        assert made["key"] not in str(session.scalars(sa.select(AuditEntry.details)).all())
    assert [tuple(row) for row in trail] == [
        *(("tracking_key.created", "done"), ("tracking_key.created", "done")),
        *(("tracking_key.revoked", "done"), ("tracking_key.revoked", "no_change")),
    ]


def test_settings_are_changed_one_by_one(key: Caller, settings: Settings) -> None:
    assert data(key.get(SETTINGS)) == DEFAULTS
    changed = {**DEFAULTS, "session_idle_minutes": 45}
    assert data(key("PATCH", SETTINGS, json={"session_idle_minutes": 45})) == changed
    changed |= {"capture_typed_identity": False, "respect_gpc": False}
    body = {"capture_typed_identity": False, "respect_gpc": False}
    assert data(key("PATCH", SETTINGS, json=body)) == changed
    assert data(key.get(SETTINGS)) == changed
    for wrong in ({"session_idle_minutes": 121}, {"session_idle_minutes": 0}, {"respect_gpc": 1}, {"other": True}):
        assert refusal(key("PATCH", SETTINGS, json=wrong))[:2] == (422, "validation_error")
    with db.transaction(settings.operational_url) as session:
        details = session.scalars(sa.select(AuditEntry.details).order_by(AuditEntry.id)).all()
    assert [(one["before"], one["after"]) for one in details] == [
        ({"session_idle_minutes": 30}, {"session_idle_minutes": 45}),
        ({"capture_typed_identity": True, "respect_gpc": True}, body),
    ]


@pytest.mark.parametrize("by", ["agency", "mode"])
def test_a_healthcare_profile_captures_nothing_that_people_type(
    key: Caller, settings: Settings, profile: Profile, by: str
) -> None:
    data(key("PATCH", SETTINGS, json={"capture_typed_identity": True}))
    with db.transaction(settings.operational_url) as session:
        if by == "agency":
            session.get_one(Workspace, profile.workspace_id).is_healthcare_agency = True
        else:
            session.get_one(Profile, profile.id).privacy_mode = "platform_safe"
    assert data(key.get(SETTINGS))["capture_typed_identity"] is False
    refused = key("PATCH", SETTINGS, json={"capture_typed_identity": True})
    assert refusal(refused) == (409, "invalid_state", "healthcare_workspace")
    assert data(key("PATCH", SETTINGS, json={"respect_gpc": False}))["capture_typed_identity"] is False


def test_a_verification_waits_for_its_page_for_a_quarter_of_an_hour(
    key: Caller, stranger: Caller, settings: Settings
) -> None:
    made = data(key.post(VERIFICATIONS, json={"url": "https://Shop.example/a?b=1#top"}), 201)
    assert made["verify_url"] == f"https://Shop.example/a?b=1&tl_verify={made['nonce']}"
    place = f"{VERIFICATIONS}/{made['id']}"
    waiting = {"id": made["id"], "status": "pending", "seen_at": None, "page_host": None}
    assert data(key.get(place)) == {**waiting, "expires_at": made["expires_at"]}
    assert refusal(stranger.get(place)) == (404, "not_found", None)
    with db.transaction(settings.operational_url) as session:
        row = session.get_one(TrackingVerification, made["id"])
        assert (row.host, row.expires_at - row.created_at) == ("shop.example", timedelta(minutes=15))
        row.expires_at = db.now()
    assert data(key.get(place))["status"] == "expired"


@pytest.mark.parametrize(
    "url",
    [
        *("http://shop.example/", "https://", "https://shop", "https://127.0.0.1/", "https://[::1]/", "shop.example"),
        *("https://a:b@shop.example/", "https://shop.example:99999/", "javascript:alert(1)", "https://shop.example/ x"),
        *("https://shop.example/\u00e9", "https://shop.example/" + "a" * 2000, "https:///path", 7, None),
    ],
)
def test_only_https_pages_of_named_hosts_are_verified(key: Caller, url: Any) -> None:
    assert refusal(key.post(VERIFICATIONS, json={"url": url}))[:2] == (422, "validation_error")
