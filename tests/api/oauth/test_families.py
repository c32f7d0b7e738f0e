"""A key that had ended by itself is not ended once more by its app: nothing is changed, and nothing told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import credentials, db
from api.models import ApiKey, AuditEntry, Profile
from tests.api.oauth.walk import Walker
from tests.factories import people

ENDS = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(("at", "is_ended"), [(ENDS - timedelta(seconds=1), True), (ENDS, False)])
def test_only_a_key_that_opens_something_is_given_back(
    client: FlaskClient, url: str, profile: Profile, at: datetime, is_ended: bool
) -> None:
    app = people.app(url)
    with db.transaction(url) as session:
        key, secret = credentials.mint_api_key(session, profile_id=profile.id, name="provisioned", app_id=app.app.id)
        key.expires_at = ENDS
    with time_machine.travel(at, tick=False):
        walker = Walker(client, auth={"Authorization": app.header})
        assert walker.revoke(secret, client_id=None).status_code == 200
    with db.transaction(url) as session:
        assert session.scalars(sa.select(ApiKey.revoked_at)).one() == (at if is_ended else None)
        told = session.scalars(sa.select(AuditEntry.action)).all()
    assert told == (["api_key.revoked"] if is_ended else [])
