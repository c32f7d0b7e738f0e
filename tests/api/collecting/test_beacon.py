"""The verification beacon: only the page that was asked about, with a key of its profile, in time."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.models import Profile, TrackingKey, TrackingVerification
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.factories import accounts, tracked
from touchledger.settings import Settings

PATH = "/api/tracking/verification/beacon"
PAGE = "https://shop.example/start"


@pytest.fixture
def asker(client: FlaskClient, settings: Settings, profile: Profile) -> Caller:
    return Caller(client, accounts.secret(settings.operational_url, profile, scopes=[Scope.TRACKING_WRITE]))


@pytest.fixture
def asked(asker: Caller) -> dict[str, Any]:
    """A verification of PAGE that waits."""
    made: dict[str, Any] = asker.post("/tracking/verifications", json={"url": PAGE}).get_json()["data"]
    return made


def beacon(client: FlaskClient, **body: Any) -> TestResponse:
    return client.post(PATH, json=body)


def test_the_pages_own_tracker_verifies_it_once(
    client: FlaskClient, key: str, asker: Caller, asked: dict[str, Any]
) -> None:
    answer = beacon(client, nonce=asked["nonce"], trackingKey=key, pageUrl=asked["verify_url"])
    assert (answer.status_code, answer.get_json()) == (202, {})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"

    def told() -> dict[str, Any]:
        found: dict[str, Any] = asker.get(f"/tracking/verifications/{asked['id']}").get_json()["data"]
        return found

    first = told()
    assert (first["status"], first["page_host"]) == ("verified", "shop.example")
    assert beacon(client, nonce=asked["nonce"], trackingKey=key, pageUrl=PAGE).status_code == 202
    assert told() == first


def test_another_page_another_profile_and_a_late_nonce_verify_nothing(
    client: FlaskClient, key: str, asker: Caller, asked: dict[str, Any], settings: Settings
) -> None:
    url = settings.operational_url
    foreign = tracked.key(url, accounts.profile(url, name="Other"))
    right = {"nonce": asked["nonce"], "trackingKey": key, "pageUrl": PAGE}
    wrong: list[tuple[dict[str, Any], int]] = [
        ({"pageUrl": "https://evil.example/start"}, 422),
        ({"pageUrl": "https://www.shop.example/start"}, 422),
        ({"pageUrl": "nowhere"}, 422),
        ({"nonce": "unknown"}, 404),
        ({"nonce": None}, 422),
        ({"trackingKey": foreign}, 404),
        ({"trackingKey": None}, 401),
        ({"trackingKey": key[:-1] + ("a" if key[-1] != "a" else "b")}, 401),
    ]
    for change, status in wrong:
        assert beacon(client, **{**right, **change}).status_code == status, change
    with db.transaction(url) as session:
        session.get_one(TrackingVerification, asked["id"]).expires_at = db.now()
    assert beacon(client, **right).status_code == 404
    assert asker.get(f"/tracking/verifications/{asked['id']}").get_json()["data"]["status"] == "expired"


def test_a_revoked_key_and_a_key_of_other_hosts_verify_nothing(
    client: FlaskClient, key: str, asked: dict[str, Any], settings: Settings
) -> None:
    right = {"nonce": asked["nonce"], "trackingKey": key, "pageUrl": PAGE}
    with db.transaction(settings.operational_url) as session:
        (row,) = session.query(TrackingKey).filter(TrackingKey.key == key)
        row.allowed_hosts = ["elsewhere.example"]
    assert beacon(client, **right).status_code == 403
    with db.transaction(settings.operational_url) as session:
        (row,) = session.query(TrackingKey).filter(TrackingKey.key == key)
        row.allowed_hosts, row.revoked_at = [], db.now()
    assert beacon(client, **right).status_code == 410
