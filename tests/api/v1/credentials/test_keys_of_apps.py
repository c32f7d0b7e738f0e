"""An app's key is in the hands of admins alone, whoever consented to it."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db
from api.models import ApiKey, Membership
from tests.api.oauth import let_in
from tests.api.v1.credentials.conftest import data, refusal
from touchledger.settings import Settings


@pytest.fixture
def world(home: Path, settings: Settings) -> let_in.World:
    return let_in.made(home, settings.operational_url)


def test_who_consented_and_is_no_admin_any_more_neither_rotates_nor_revokes_it(world: let_in.World) -> None:
    assert world.app_exchange(world.app_code()).status_code == 200
    path = f"{world.place}/api-keys/{world.one(ApiKey.id)}"
    with db.transaction(world.url) as session:
        session.execute(sa.update(Membership).values(role="editor"))
    for act in ("rotate", "revoke"):
        # with it the editor could erase customers, which people may from the role admin on
        assert refusal(world.ask("POST", f"{path}/{act}")) == (403, "forbidden", "role_required")
    with db.transaction(world.url) as session:
        session.execute(sa.update(Membership).values(role="admin"))
    assert data(world.ask("POST", f"{path}/rotate"), 201)["app_id"] == world.app_id
    assert data(world.ask("POST", f"{path}/revoke"))["status"] == "revoked"


def test_an_apps_key_takes_no_room_from_those_of_the_profile(world: let_in.World) -> None:
    assert world.app_exchange(world.app_code()).status_code == 200
    with db.transaction(world.url) as session:
        (of_app,) = session.scalars(sa.select(ApiKey))
    own = {"profile_id": of_app.profile_id, "name": "Server"}
    made = [world.ask("POST", f"{world.place}/api-keys", own).status_code for _ in range(6)]
    assert made == [201, 201, 201, 201, 201, 402]
