"""Connected apps: what people let consumer apps and agents do with a workspace, and ending it for good."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db
from api.models import ApiKey, App, AuditEntry, Connection, Entitlement, OAuthAuthorization, Profile, User, Workspace
from api.roles import Role
from tests.api.oauth.walk import Walker, form_token, query_of, sign_in
from tests.api.v1.members.conftest import Ask, data, refusal
from tests.factories import accounts, people
from tests.factories.receivers import PUBLIC
from tests.fixtures.statements import statements

BACK = "https://app.example/back"
ASKED = {"code_challenge": None, "code_challenge_method": None, "scope": "analytics"}
UNKNOWN = "01900000-0000-7000-8000-00000000ffff"


@pytest.fixture
def app(client: FlaskClient, url: str, as_owner: str) -> Walker:
    """An app that the owner, signed in in the browser, may let in."""
    made = people.app(url, connect_scopes=["analytics", "connections"])
    with db.transaction(url) as session:
        kept = session.get_one(App, made.app.id)
        kept.redirect_uris, kept.logo_url = [BACK], "https://app.example/logo.png"
    sign_in(client, as_owner)
    return Walker(client, made.app.client_id or "", BACK, auth={"Authorization": made.header})


@pytest.fixture
def agent(client: FlaskClient, as_owner: str) -> Walker:
    sign_in(client, as_owner)
    made = Walker(client)
    made.register()
    return made


def connected(app: Walker, profile: Profile, scope: str = "analytics") -> str:
    """The key that the app gets to a profile."""
    code = query_of(app.decide(asked={**ASKED, "scope": scope}, profile_id=profile.id))["code"]
    return str(app.exchange(code, client_id=None, code_verifier=None).get_json()["access_token"])


def test_an_app_is_listed_with_what_it_may_do_and_ended_for_good(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User, app: Walker
) -> None:
    key, other = connected(app, profile), accounts.secret(url, profile)
    with db.transaction(url) as session:
        made = Connection(profile_id=profile.id, provider="meta", kind="ads", display_name="A", token="t")
        made.external_account_id, made.base_url = "1", "http://127.0.0.1"
        session.add(made)
    (row,) = data(ask("GET", f"{w}/connected-apps", as_owner))
    assert (row["kind"], row["status"], row["scopes"]) == ("consumer_app", "granted", ["analytics"])
    assert row["app"]["logo_url"] == "https://app.example/logo.png"
    assert (row["profile_id"], row["profile_name"]) == (profile.id, "Shop")
    assert row["granted_by"] == {"kind": "session", "id": owner.id, "display": "Olga"}
    assert ask("GET", "/notes", key).status_code == 200
    path = f"{w}/connected-apps/{row['id']}"
    ended = data(ask("DELETE", path, as_owner))
    assert (ended["status"], ended["keys_revoked"], ended["tokens_revoked"]) == ("revoked", 1, 0)
    assert [ask("GET", "/notes", one).status_code for one in (key, other)] == [401, 200]
    assert data(ask("DELETE", path, as_owner)) == ended
    assert [row["status"] for row in data(ask("GET", f"{w}/connected-apps", as_owner))] == ["revoked"]
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Connection)).one().status == "active"
        assert len(session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "app.disconnected")).all()) == 1


@pytest.mark.parametrize("is_rotated", [False, True])
def test_it_tells_when_an_app_was_last_there_and_not_only_when_it_was_let_in(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, app: Walker, is_rotated: bool
) -> None:
    def seen() -> list[datetime | None]:
        rows = data(ask("GET", f"{w}/connected-apps", as_owner))
        return [row["last_used_at"] and datetime.fromisoformat(row["last_used_at"]) for row in rows]

    begun = datetime(2026, 3, 10, 12, tzinfo=UTC)
    with time_machine.travel(begun, tick=False) as clock:
        code = query_of(app.decide(asked=ASKED, profile_id=profile.id))["code"]
        assert seen() == [None]
        key = app.exchange(code, client_id=None, code_verifier=None).get_json()["access_token"]
        assert seen() == [begun]
        clock.shift(timedelta(days=3))
        if is_rotated:
            with db.transaction(url) as session:
                number = session.scalars(sa.select(ApiKey.id)).one()
            key = data(ask("POST", f"{w}/api-keys/{number}/rotate", as_owner), 201)["key"]
        assert ask("GET", "/notes", key).status_code == 200
        assert seen() == [begun + timedelta(days=3)]


def test_it_tells_when_an_agent_was_last_there(
    ask: Ask, profile: Profile, w: str, as_owner: str, agent: Walker
) -> None:
    begun = datetime(2026, 3, 10, 12, tzinfo=UTC)
    with time_machine.travel(begun, tick=False) as clock:
        given = agent.exchange(agent.code()).get_json()
        told = [data(ask("GET", f"{w}/connected-apps", as_owner))[0]["last_used_at"]]
        for act in (
            lambda: agent.campaigns(given["access_token"], profile.id),
            lambda: agent.refresh(given["refresh_token"]),
        ):
            clock.shift(timedelta(hours=2))
            act()
            told.append(data(ask("GET", f"{w}/connected-apps", as_owner))[0]["last_used_at"])
    assert [datetime.fromisoformat(one).hour for one in told] == [12, 14, 16]


def test_a_disconnected_app_is_told_nothing_more_and_reaches_nothing_it_adopted(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User, app: Walker
) -> None:
    header, wanted = app.auth["Authorization"], {"url": f"https://{PUBLIC}/app", "events": ["*"]}
    data(ask("POST", "/webhooks/subscriptions", connected(app, profile, "connections"), wanted), 201)
    here = f"/webhooks/subscriptions?profile_id={profile.id}"
    data(ask("POST", here, as_owner, {**wanted, "url": f"https://{PUBLIC}/own"}), 201)
    data(ask("POST", f"/profiles/{profile.id}/adopt", header, {"external_ref": "mine"}))

    path = f"/profiles/{profile.id}/entitlements/partner_audiences"
    data(ask("PUT", path, header, {"enabled": True}))

    def state() -> tuple[dict[str, str], list[str], bool]:
        told = {row["url"].rpartition("/")[2]: row["status"] for row in data(ask("GET", here, as_owner))}
        with db.transaction(url) as session:
            is_on = session.scalars(sa.select(Entitlement)).one().is_enabled
        return told, [row["external_ref"] for row in data(ask("GET", "/profiles", header))], is_on

    connected(app, profile, "connections")
    assert state() == ({"app": "active", "own": "active"}, ["mine"], True), "a newer consent carries all of it on"
    (row,) = [row for row in data(ask("GET", f"{w}/connected-apps", as_owner)) if row["status"] == "granted"]

    # the same app elsewhere, and another app here, which carry nothing of this
    second = Profile(workspace_id=profile.workspace_id, name="S", timezone="UTC", reporting_currency="USD")
    granted = {"kind": "consumer_app", "client_id": "c", "client_name": "C", "status": "granted", "scopes": []}
    with db.transaction(url) as session:
        session.add(second)
        session.add(
            OAuthAuthorization(**granted, app_id=people.app(url).app.id, user_id=owner.id, profile_id=profile.id)
        )
    data(ask("POST", "/webhooks/subscriptions", connected(app, second, "connections"), wanted), 201)
    data(ask("POST", f"/profiles/{second.id}/adopt", header, {"external_ref": "second"}))

    data(ask("DELETE", f"{w}/connected-apps/{row['id']}", as_owner))
    assert state() == ({"app": "paused", "own": "active"}, ["second"], False), "nobody else could switch it off"
    there = data(ask("GET", f"/webhooks/subscriptions?profile_id={second.id}", as_owner))
    assert [one["status"] for one in there] == ["active"]
    switch = ask("PUT", path, header, {"enabled": True})
    assert refusal(switch) == (404, "not_found", None)


def test_two_clicks_let_an_app_in_once_and_to_one_profile(client: FlaskClient, profile: Profile, app: Walker) -> None:
    sent = {"form_token": form_token(app.ask(**ASKED)), "decision": "allow", "profile_id": profile.id}
    first, second, other = (
        client.post("/oauth/authorize", query_string=app.asking(**ASKED), data={**sent, **changed})
        for changed in ({}, {}, {"profile_id": UNKNOWN})
    )
    # the browser heeds the answer to the second click alone
    codes = [query_of(one)["code"] for one in (first, second)]
    assert [app.exchange(one, client_id=None, code_verifier=None).status_code for one in codes] == [400, 200]
    assert "This request is over" in other.text


def test_an_app_keeps_what_it_provisioned_when_a_consent_ends(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, app: Walker
) -> None:
    connected(app, profile)
    with db.transaction(url) as session:
        registered = session.scalars(sa.select(App)).one()
    people.delegate(url, registered, profile)
    (row,) = data(ask("GET", f"{w}/connected-apps", as_owner))
    data(ask("DELETE", f"{w}/connected-apps/{row['id']}", as_owner))
    assert len(data(ask("GET", "/profiles", app.auth["Authorization"]))) == 1


def test_an_agent_of_a_member_loses_its_tokens(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User, agent: Walker
) -> None:
    first, own = agent.exchange(agent.code()).get_json(), people.token_of(url, owner)
    (row,) = data(ask("GET", f"{w}/connected-apps", as_owner))
    assert (row["kind"], row["app"]["name"], row["app"]["app_id"]) == ("agent", "Ada's agent", None)
    assert (row["profile_id"], row["scopes"]) == (None, ["mcp:read", "mcp:write"])
    assert agent.campaigns(first["access_token"], profile.id) == 200
    ended = data(ask("DELETE", f"{w}/connected-apps/{row['id']}", as_owner))
    assert (ended["keys_revoked"], ended["tokens_revoked"]) == (0, 1)
    assert [agent.campaigns(one, profile.id) for one in (first["access_token"], own)] == [401, 200]
    assert agent.refresh(first["refresh_token"]).get_json()["error"] == "invalid_grant"


def test_whoever_an_app_added_by_address_keeps_their_agents_to_themselves_until_they_come_in(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User, agent: Walker
) -> None:
    # an app of anybody's adds anybody, and the agents of whom it added could be read and ended everywhere
    agent.exchange(agent.code())
    (row,) = data(ask("GET", f"{w}/connected-apps", as_owner))
    trap, attacker = accounts.profile(url, name="Trap"), people.user(url)
    with db.transaction(url) as session:
        session.get_one(Workspace, trap.workspace_id).acquisition_source = "oauth"
    people.member(url, attacker, trap.workspace_id)
    people.member(url, owner, trap.workspace_id, Role.VIEWER)
    there, token = f"/workspaces/{trap.workspace_id}/connected-apps", people.session_of(url, attacker)
    assert data(ask("GET", there, token)) == []
    assert refusal(ask("DELETE", f"{there}/{row['id']}", token)) == (404, "not_found", None)
    assert ask("GET", f"/notes?profile_id={trap.id}", as_owner).status_code == 200
    assert [one["id"] for one in data(ask("GET", there, token))] == [row["id"]]


def test_what_belongs_to_others_is_neither_seen_nor_ended(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, app: Walker
) -> None:
    connected(app, profile)
    (row,) = data(ask("GET", f"{w}/connected-apps", as_owner))
    stranger, elsewhere = people.user(url), accounts.profile(url, name="Other")
    people.member(url, stranger, elsewhere.workspace_id)
    there, token = f"/workspaces/{elsewhere.workspace_id}/connected-apps", people.session_of(url, stranger)
    assert data(ask("GET", there, token)) == []
    for one in (row["id"], UNKNOWN):
        assert refusal(ask("DELETE", f"{there}/{one}", token)) == (404, "not_found", None)
    editor = people.user(url)
    people.member(url, editor, profile.workspace_id, Role.EDITOR)
    as_editor = people.session_of(url, editor)
    for method, path in (("GET", f"{w}/connected-apps"), ("DELETE", f"{w}/connected-apps/{row['id']}")):
        assert refusal(ask(method, path, as_editor)) == (403, "forbidden", "role_required")


def test_what_was_never_consented_to_is_not_listed(
    ask: Ask, url: str, profile: Profile, w: str, as_owner: str, owner: User, app: Walker
) -> None:
    connected(app, profile)
    with db.transaction(url) as session:
        for status in ("requested", "denied"):
            asked = OAuthAuthorization(kind="agent", client_id="c", client_name="A", user_id=owner.id)
            asked.status = status
            session.add(asked)
    rows = data(ask("GET", f"{w}/connected-apps", as_owner))
    assert [row["kind"] for row in rows] == ["consumer_app"]
    with db.transaction(url) as session:
        second = Profile(workspace_id=profile.workspace_id, name="Two", timezone="UTC", reporting_currency="USD")
        session.add(second)
    assert data(ask("GET", f"{w}/connected-apps?profile_id={second.id}", as_owner)) == []
    assert len(data(ask("GET", f"{w}/connected-apps?profile_id={profile.id}", as_owner))) == 1


def test_consents_to_a_workspace_are_found_off_indexes(ask: Ask, url: str, w: str, as_owner: str) -> None:
    # those of all workspaces were read for a page of one
    engine = db.engine_for(url, durable=False)
    with statements(engine) as run:
        assert data(ask("GET", f"{w}/connected-apps", as_owner)) == []
    (asked,) = (one for one in run if "FROM oauth_authorizations" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1]).all()
    assert not [step.detail for step in plan if step.detail.startswith("SCAN oauth_")]
    assert [step.detail for step in plan if "ix_oauth_authorizations_user_id" in step.detail]
