"""A partner, and a customer whom the published snapshot knows."""

from __future__ import annotations

import uuid

import pytest
from flask.testing import FlaskClient

from api import db
from api.credentials import mint_api_key
from api.models import App, Profile
from api.warehouse_ids import identifier_id
from tests.api.conftest import Caller
from tests.factories import served
from touchledger.settings import Settings

EMAIL = "ann@example.com"


def partner_key(settings: Settings, of: Profile) -> str:
    with db.transaction(settings.operational_url) as session:
        app = App(name=f"app {uuid.uuid4()}")
        session.add(app)
        session.flush()
        return mint_api_key(session, profile_id=of.id, scopes=(), name="partner", app_id=app.id)[1]


@pytest.fixture
def partner(client: FlaskClient, settings: Settings, profile: Profile) -> Caller:
    return Caller(client, partner_key(settings, profile))


@pytest.fixture
def person(settings: Settings, profile: Profile) -> str:
    """Ann, as the published snapshot knows her: an e-mail address, a reference and a phone."""
    ref = str(uuid.uuid4())
    ids = [("email", EMAIL), ("external_id", "crm-77"), ("phone", "+14155550123")]
    served.publish(
        settings.published,
        {
            "profiles": [
                {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD",
                 "currency_digits": 2, "settings_version": "v"}
            ],
            "person_identifiers": [
                {"profile_key": 1, "identifier_id": identifier_id(profile.id, kind, value), "person_ref": ref}
                for kind, value in ids
            ],
            "conversions": [
                {"profile_key": 1, "conversion_id": name, "person_ref": of, "day": "2026-03-01",
                 "occurred_at": "2026-03-01 09:00:00"}
                for name, of in (("hers", ref), ("another's", "another"))
            ],
        },
    )  # fmt: skip
    return ref
