"""A consumer app asks for a key to one profile: an owner or admin picks it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import credentials, db
from api.models import (
    ApiKey,
    App,
    AppSecret,
    AuditEntry,
    Membership,
    OAuthAuthorization,
    Profile,
    User,
    WebhookSubscription,
    Workspace,
)
from api.roles import Role
from tests.api.oauth.walk import Walker, query_of, sign_in
from tests.factories import accounts, people
from tests.factories.deployments import application
from touchledger.settings import Settings

BACK = "https://app.example/back"
PLAIN = {"code_challenge": None, "code_challenge_method": None, "scope": "analytics commerce"}


def asking(client: FlaskClient, url: str, ada: User) -> Walker:
    """An app that may ask for figures, people and products, with Ada signed in in the browser."""
    made = people.app(url, connect_scopes=["analytics", "analytics_pii", "commerce"])
    with db.transaction(url) as session:
        session.get_one(App, made.app.id).redirect_uris = [BACK]
    sign_in(client, people.session_of(url, ada))
    return Walker(client, made.app.client_id or "", BACK, auth={"Authorization": made.header})


@pytest.fixture
def app(client: FlaskClient, url: str, ada: User) -> Walker:
    """The app in front of Ada's own deployment."""
    return asking(client, url, ada)


def connect(app: Walker, profile_id: str, *, asked: dict[str, str | None] | None = None) -> dict[str, str]:
    return query_of(app.decide(asked=asked or PLAIN, profile_id=profile_id))


def exchanged(app: Walker, code: str) -> dict[str, str]:
    response = app.exchange(code, client_id=None, code_verifier=None)
    assert response.status_code == 200, response.text
    return dict(response.get_json())


def test_an_app_gets_a_partner_key_of_the_profile_that_was_picked(app: Walker, profile: Profile, url: str) -> None:
    given = exchanged(app, connect(app, profile.id)["code"])
    assert given["access_token"].startswith("tl_live_")
    assert given["token_type"].lower() == "bearer"
    assert (given["profile_id"], given["workspace_id"]) == (profile.id, profile.workspace_id)
    assert given["scope"] == "analytics commerce"
    assert "refresh_token" not in given
    assert "expires_in" not in given
    assert app.campaigns(given["access_token"], profile.id) == 200
    with db.transaction(url) as session:
        key = session.scalars(sa.select(ApiKey)).one()
        consent = session.scalars(sa.select(OAuthAuthorization)).one()
    assert set(key.scopes) == {
        "analytics:read", "campaigns:read", "conversions:read", "realtime:read", "commerce:read", "commerce:live",
    }  # fmt: skip
    assert key.app_id == consent.app_id
    assert (consent.status, consent.profile_id, consent.kind) == ("granted", profile.id, "consumer_app")


def test_the_secret_may_come_in_the_body_and_a_wrong_one_gives_nothing(app: Walker, profile: Profile, url: str) -> None:
    code = connect(app, profile.id)["code"]
    secret = base64.b64decode(app.auth.pop("Authorization")[6:]).decode().partition(":")[2]
    wrong = credentials.mint("tl_secret")
    for sent in ({}, {"client_secret": wrong}, {"client_secret": "x"}):
        refused = app.exchange(code, code_verifier=None, **sent)
        assert refused.get_json()["error"] == "invalid_client", sent
    with db.transaction(url) as session:
        session.execute(sa.update(AppSecret).values(expires_at=db.now()))
    assert app.exchange(code, code_verifier=None, client_secret=secret).get_json()["error"] == "invalid_client"
    with db.transaction(url) as session:
        session.execute(sa.update(AppSecret).values(expires_at=None))
    assert app.exchange(code, code_verifier=None, client_secret=secret).status_code == 200


def test_an_app_proves_itself_in_one_way_and_under_one_name(app: Walker, profile: Profile) -> None:
    # the header was believed, and what stood beside it was not looked at
    code = connect(app, profile.id)["code"]
    for beside in ({"client_secret": "wrong"}, {"client_id": db.new_id()}):
        refused = app.exchange(code, code_verifier=None, **beside)
        assert (refused.status_code, refused.get_json()["error"]) == (400, "invalid_request")
    assert app.exchange(code, code_verifier=None).status_code == 200


def test_only_profiles_one_owns_or_administers_can_be_picked(
    app: Walker, profile: Profile, url: str, ada: User
) -> None:
    second, viewed, foreign = (accounts.profile(url, name=name) for name in ("Second", "Viewed", "Foreign"))
    people.member(url, ada, second.workspace_id, Role.ADMIN)
    people.member(url, ada, viewed.workspace_id, Role.EDITOR)
    page = app.ask(**PLAIN)
    assert second.id in page.text
    assert profile.id in page.text
    assert viewed.id not in page.text
    assert foreign.id not in page.text
    for wanted in (viewed.id, foreign.id, "", None):
        refused = app.decide(asked=PLAIN, profile_id=wanted)
        assert refused.status_code == 400
        assert "Choose a profile" in refused.text
    assert exchanged(app, connect(app, second.id)["code"])["profile_id"] == second.id


def test_what_is_no_id_of_a_profile_is_no_choice(home: Path, database_url: str) -> None:
    settings = Settings(home=home, database_url=database_url)
    ada = people.user(settings.operational_url)
    people.member(settings.operational_url, ada, accounts.profile(settings.operational_url).workspace_id)
    app = asking(application(settings).test_client(), settings.operational_url, ada)
    # Postgres takes no NUL in a text
    for wanted in ("\0", "x" * 500, "' or 1=1"):
        refused = app.decide(asked=PLAIN, profile_id=wanted)
        assert (refused.status_code, "Choose a profile" in refused.text) == (400, True)


def test_two_profiles_keep_a_key_each_and_a_new_consent_replaces_its_own(
    app: Walker, profile: Profile, url: str, ada: User
) -> None:
    second = accounts.profile(url, name="Second")
    people.member(url, ada, second.workspace_id, Role.ADMIN)
    one = exchanged(app, connect(app, profile.id)["code"])["access_token"]
    two = exchanged(app, connect(app, second.id)["code"])["access_token"]
    assert (app.campaigns(one, profile.id), app.campaigns(two, second.id)) == (200, 200)
    again = exchanged(app, connect(app, profile.id)["code"])["access_token"]
    assert [app.campaigns(one, profile.id), app.campaigns(again, profile.id), app.campaigns(two, second.id)] == [
        401, 200, 200,
    ]  # fmt: skip


def test_somebody_who_administers_nothing_can_only_deny(app: Walker, url: str) -> None:
    sign_in(app.browser, people.session_of(url, people.user(url)))
    page = app.ask(**PLAIN)
    assert "owner or admin of no profile" in page.text
    assert 'value="allow"' not in page.text
    assert query_of(app.decide("deny", asked=PLAIN))["error"] == "access_denied"


def _marked(url: str, profile: Profile) -> None:
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).is_healthcare_agency = True


def _private(url: str, profile: Profile) -> None:
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "platform_safe"


@pytest.mark.parametrize("make_healthcare", [_marked, _private])
def test_people_of_a_healthcare_profile_are_never_given(
    app: Walker, profile: Profile, url: str, make_healthcare: Callable[[str, Profile], None]
) -> None:
    people_too = {**PLAIN, "scope": "analytics_pii"}
    early = connect(app, profile.id, asked=people_too)["code"]
    make_healthcare(url, profile)
    late = app.exchange(early, client_id=None, code_verifier=None).get_json()
    assert late["error"] == "access_denied"
    answer = connect(app, profile.id, asked=people_too)
    assert answer["error"] == "access_denied"
    assert "healthcare_scope_forbidden" in answer["error_description"]
    assert (answer["state"], answer["iss"]) == ("st/1 &", "http://127.0.0.1:8000")
    with db.transaction(url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(ApiKey)) == 0
    assert exchanged(app, connect(app, profile.id)["code"])["scope"] == PLAIN["scope"]


def test_an_app_asks_only_for_what_it_registered(app: Walker) -> None:
    for scope in ("tracking", "mcp:read", "workspaces:write", "analytics analytics:read"):
        assert query_of(app.ask(**{**PLAIN, "scope": scope}))["error"] == "invalid_scope"
    page = app.ask(**{**PLAIN, "scope": None})
    assert "analytics_pii" in page.text


def test_a_challenge_of_an_app_is_held_to_as_well(app: Walker, profile: Profile) -> None:
    with_proof: dict[str, str | None] = {"scope": "analytics"}
    code = connect(app, profile.id, asked=with_proof)["code"]
    assert app.exchange(code, client_id=None, code_verifier=None).get_json()["error"] == "invalid_request"
    assert app.exchange(code, client_id=None, code_verifier="b" * 50).get_json()["error"] == "invalid_grant"
    assert app.exchange(code, client_id=None).status_code == 200
    assert query_of(app.ask(scope="analytics", code_challenge_method="plain"))["error"] == "invalid_request"


def told(url: str) -> list[tuple[str, str | None, str]]:
    """Who ended what an app was let do, as the trail of the workspace tells it."""
    ended = sa.select(AuditEntry).where(AuditEntry.action == "app.disconnected", AuditEntry.workspace_id.is_not(None))
    with db.transaction(url) as session:
        return [(one.actor_kind, one.profile_id, one.details["after"]["reason"]) for one in session.scalars(ended)]


def test_a_replayed_code_ends_the_key_it_gave(app: Walker, profile: Profile, url: str) -> None:
    code = connect(app, profile.id)["code"]
    key = exchanged(app, code)["access_token"]
    for _ in range(2):
        assert app.exchange(code, client_id=None, code_verifier=None).get_json()["error"] == "invalid_grant"
    assert app.campaigns(key, profile.id) == 401
    # the trail told of the consent, and of nothing that came of it
    assert told(url) == [("system", profile.id, "code_used_twice")]


LOST = [sa.update(Membership).values(role="editor"), sa.delete(Membership)]
LOST += [sa.update(model).values(archived_at=db.now()) for model in (Profile, Workspace)]


@pytest.mark.parametrize("change", LOST)
def test_a_code_of_who_administers_the_profile_no_longer_or_of_one_that_is_archived_gives_nothing(
    app: Walker, profile: Profile, url: str, change: sa.Update | sa.Delete
) -> None:
    code = connect(app, profile.id)["code"]
    with db.transaction(url) as session:
        session.execute(change)
    people.member(url, people.user(url), profile.workspace_id)  # who did not consent
    assert app.exchange(code, client_id=None, code_verifier=None).get_json()["error"] == "invalid_grant"
    with db.transaction(url) as session:
        assert session.scalars(sa.select(ApiKey)).all() == []


def test_an_app_gives_its_key_back(app: Walker, profile: Profile, url: str) -> None:
    key = exchanged(app, connect(app, profile.id)["code"])["access_token"]
    other = people.app(url)
    stranger = Walker(app.browser, auth={"Authorization": other.header})
    assert stranger.revoke(key, client_id=None).status_code == 200
    assert app.campaigns(key, profile.id) == 200
    assert app.revoke(key, client_id=None).status_code == 200
    assert app.campaigns(key, profile.id) == 401
    assert told(url) == [("app", profile.id, "given_back")]
    with db.transaction(url) as session:
        assert session.scalars(sa.select(OAuthAuthorization.status)).one() == "revoked"


def test_what_a_newer_consent_replaced_may_end_again_without_ending_anything_of_the_newer(
    app: Walker, profile: Profile, url: str
) -> None:
    code = connect(app, profile.id)["code"]
    first, second = exchanged(app, code), exchanged(app, connect(app, profile.id)["code"])
    with db.transaction(url) as session:
        app_id = session.scalars(sa.select(App.id)).one()
        hook = WebhookSubscription(workspace_id=profile.workspace_id, profile_id=profile.id, app_id=app_id)
        hook.url, hook.events, hook.secret = "https://app.example/hook", ["*"], "s"
        session.add(hook)

    def state() -> str:
        with db.transaction(url) as session:
            return session.get_one(WebhookSubscription, hook.id).status

    # as an app does that tidies up after it was connected anew: what it is told of the profile was paused by that
    assert app.revoke(first["access_token"], client_id=None).status_code == 200
    assert app.exchange(code, client_id=None, code_verifier=None).status_code == 400
    assert (app.campaigns(second["access_token"], profile.id), state()) == (200, "active")
    app.revoke(second["access_token"], client_id=None)
    assert (app.campaigns(second["access_token"], profile.id), state()) == (401, "paused")


def test_a_suspended_app_gets_nothing(app: Walker, profile: Profile, url: str) -> None:
    code = connect(app, profile.id)["code"]
    with db.transaction(url) as session:
        session.execute(sa.update(App).values(status="suspended"))
    assert app.exchange(code, client_id=None, code_verifier=None).status_code == 401
    page = app.ask(**PLAIN)
    assert page.status_code == 400
    assert "Location" not in page.headers


def test_an_app_has_no_refresh_tokens(app: Walker) -> None:
    response = app.refresh(credentials.mint("tl_refr"), client_id=None)
    assert response.get_json()["error"] == "unauthorized_client"


def test_an_app_gives_back_a_key_that_no_consent_gave_and_no_other_program_does(
    app: Walker, profile: Profile, url: str
) -> None:
    # as provisioning gives one
    with db.transaction(url) as session:
        app_id = session.scalars(sa.select(App.id)).one()
        key, secret = credentials.mint_api_key(session, profile_id=profile.id, name="provisioned", app_id=app_id)
        session.flush()
        number = key.id
    for walker, is_over in ((Walker(app.browser, app.client_id), False), (app, True), (app, True)):
        assert walker.revoke(secret, client_id=None).status_code == 200
        with db.transaction(url) as session:
            assert (session.get_one(ApiKey, number).revoked_at is not None) == is_over
    with db.transaction(url) as session:
        (entry,) = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "api_key.revoked"))
        assert (entry.actor_kind, entry.actor_id, entry.workspace_id) == ("app", app_id, profile.workspace_id)
        assert (entry.details["target"]["id"], entry.details["after"]) == (number, {"reason": "given_back"})
