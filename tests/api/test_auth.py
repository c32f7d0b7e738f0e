"""Which credential opens what, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import auth, credentials, db
from api.models import ApiKey, Profile
from api.scopes import CLOSED_TO_USER_TOKENS, DEFAULT_SCOPES, GRANTABLE, GRANTS, PII, Scope, user_token_reaches
from tests.api.conftest import Caller
from tests.factories import accounts
from touchledger.settings import Settings


def change(settings: Settings, **values: object) -> None:
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(ApiKey).values(**values))


def test_a_live_key_opens_its_profile(caller: Caller, profile: Profile) -> None:
    response = caller.get("/notes")
    assert response.status_code == 200
    assert response.get_json()["meta"]["profile_id"] == profile.id


def test_a_revoked_key_opens_nothing_from_the_next_request_on(caller: Caller, settings: Settings) -> None:
    assert caller.get("/notes").status_code == 200
    change(settings, revoked_at=db.now())
    assert caller.get("/notes").status_code == 401


def test_a_rotated_key_works_for_48_hours_and_no_longer(caller_with: Callable[..., Caller]) -> None:
    start = db.now()
    with time_machine.travel(start, tick=False) as clock:
        caller = caller_with(expires_at=start + timedelta(hours=48))
        clock.move_to(start + timedelta(hours=47, minutes=59))
        assert caller.get("/notes").status_code == 200
        clock.move_to(start + timedelta(hours=48))
        assert caller.get("/notes").status_code == 401


def test_keys_of_one_lineage_share_their_allowance(
    caller: Caller, caller_with: Callable[..., Caller], settings: Settings
) -> None:
    rotated = caller_with()
    change(settings, lineage_id="01900000-0000-7000-8000-000000000001")
    assert caller.get("/notes").headers["X-RateLimit-Remaining"] == "59"
    assert rotated.get("/notes").headers["X-RateLimit-Remaining"] == "58"


def test_the_scheme_is_read_in_any_case_and_nothing_else_is(client: FlaskClient, secret: str) -> None:
    def status(header: str) -> int:
        return client.get("/api/v1/notes", headers={"Authorization": header}).status_code

    assert status(f"bearer {secret}") == 200
    assert status(f"Bearer {secret} ") == 200
    assert status(secret) == 401
    assert status(f"Basic {secret}") == 401
    assert status("Basic é") == 401
    assert status(f"Bearer {secret}, Bearer {secret}") == 401
    assert client.get(f"/api/v1/notes?access_token={secret}").status_code == 401


def test_a_wrong_checksum_never_reaches_the_database(client: FlaskClient, settings: Settings) -> None:
    reached: list[object] = []
    sa.event.listen(db.engine_for(settings.operational_url, durable=False), "checkout", lambda *_: reached.append(_))
    client.get("/api/v1/notes", headers={"Authorization": "Bearer tl_live_" + "0" * 38})
    assert len(reached) == 0
    client.get("/api/v1/notes", headers={"Authorization": f"Bearer {credentials.mint('tl_live')}"})
    assert len(reached) == 1


def test_the_last_use_is_kept_to_the_minute(caller: Caller, settings: Settings) -> None:
    caller.get("/notes")
    with db.transaction(settings.operational_url) as session:
        used = session.scalars(sa.select(ApiKey.last_used_at)).one()
    assert used is not None
    assert timedelta(0) <= db.now() - used < timedelta(seconds=30)
    caller.get("/notes")
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(ApiKey.last_used_at)).one() == used


def test_a_missing_scope_is_named(caller_with: Callable[..., Caller]) -> None:
    error = caller_with(scopes=[Scope.REALTIME_READ]).get("/notes").get_json()["error"]
    assert error["code"] == "insufficient_scope"
    assert error["required_scopes"] == ["campaigns:read"]


def test_keys_work_on_postgres_too(database_url: str) -> None:
    made = accounts.profile(database_url)
    secret = accounts.secret(database_url, made)
    with db.transaction(database_url, durable=False) as session:
        principal = auth.authenticate(session, auth.presented(f"Bearer {secret}"))
    assert principal.own_profile is not None
    assert (principal.own_profile.id, principal.kind, principal.limit) == (made.id, auth.Kind.API_KEY, 60)
    assert principal.has(Scope.CAMPAIGNS_READ)
    assert not principal.has(Scope.EVENTS_WRITE)


def test_scopes_and_grants_are_those_of_the_interface() -> None:
    assert len(Scope) == 32
    assert set(DEFAULT_SCOPES) == GRANTS["mcp:read"]
    assert len(PII) == 5
    assert len(GRANTS["mcp:write"]) == 9
    assert GRANTABLE & {Scope.COMMERCE_READ, Scope.VISITORS_READ, Scope.EVENTS_WRITE, Scope.CREATIVES_WRITE} == set()


@pytest.mark.parametrize(
    ("method", "route", "scope", "reached"),
    [
        ("GET", "/api/v1/campaigns", Scope.CAMPAIGNS_READ, True),
        ("GET", "/api/v1/campaigns", Scope.COMMERCE_READ, False),
        ("GET", "/api/v1/me/mcp-tokens", Scope.ANALYTICS_READ, False),
        ("GET", "/api/v1/workspaces/<workspace_id>/api-keys", Scope.ANALYTICS_READ, True),
        ("POST", "/api/v1/workspaces/<workspace_id>/api-keys", Scope.WORKSPACES_WRITE, False),
        ("GET", "/api/v1/workspaces/<workspace_id>/mcp-settings", Scope.ANALYTICS_READ, True),
        ("PUT", "/api/v1/workspaces/<workspace_id>/mcp-settings", Scope.WORKSPACES_WRITE, False),
    ],
)
def test_where_a_user_token_can_ever_go(method: str, route: str, scope: Scope, reached: bool) -> None:
    assert user_token_reaches(method, route, scope) == reached
    assert CLOSED_TO_USER_TOKENS
