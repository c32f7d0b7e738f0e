"""An agent from registration to revocation, and everything in between that must not work."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db
from api.models import AuditEntry, OAuthAuthorization, OAuthClient, Profile, User, UserToken
from api.pages.browser import AGAIN_WITHIN
from api.roles import Role
from tests.api.oauth.walk import Walker, form_token, query_of, sign_in
from tests.factories import people
from touchledger.settings import Settings


def error_of(response: object) -> str:
    return str(response.get_json()["error"])  # type: ignore[attr-defined]


def test_an_agent_walks_from_registration_to_revocation(agent: Walker, profile: Profile) -> None:
    answer = query_of(agent.decide())
    assert answer["state"] == "st/1 &"
    assert answer["iss"] == "http://127.0.0.1:8000"
    given = agent.exchange(answer["code"])
    assert given.headers["Cache-Control"] == "no-store"
    first = given.get_json()
    assert first["access_token"].startswith("tl_user_")
    assert first["refresh_token"].startswith("tl_refr_")
    assert {first["token_type"], first["expires_in"], first["scope"]} == {"Bearer", 86400, "mcp:read mcp:write"}
    assert agent.campaigns(first["access_token"], profile.id) == 200

    second = agent.refresh(first["refresh_token"]).get_json()
    assert agent.campaigns(first["access_token"], profile.id) == 401
    assert agent.campaigns(second["access_token"], profile.id) == 200

    gone = agent.revoke(second["refresh_token"])
    assert (gone.status_code, gone.data) == (200, b"")
    assert agent.campaigns(second["access_token"], profile.id) == 401
    assert error_of(agent.refresh(second["refresh_token"])) == "invalid_grant"


def test_only_the_grants_that_stay_ticked_are_given(agent: Walker, url: str) -> None:
    given = agent.exchange(agent.code(scope=["mcp:read"])).get_json()
    assert given["scope"] == "mcp:read"
    with db.transaction(url) as session:
        assert session.scalars(sa.select(UserToken)).one().grants == ["mcp:read"]
    page = agent.decide(scope=[])
    assert page.status_code == 400
    assert "Choose at least one" in page.text
    assert agent.decide(scope=["mcp:read_pii"]).status_code == 400


def test_without_a_scope_an_agent_may_read(agent: Walker) -> None:
    code = query_of(agent.decide(asked={"scope": None}))["code"]
    assert agent.exchange(code).get_json()["scope"] == "mcp:read"


@pytest.mark.parametrize("verifier", ["a" * 64, "short", None, ""])
def test_a_wrong_verifier_opens_nothing(agent: Walker, verifier: str | None) -> None:
    response = agent.exchange(agent.code(), code_verifier=verifier)
    assert response.status_code == 400
    assert error_of(response) in {"invalid_grant", "invalid_request"}


def test_a_replayed_code_ends_what_it_gave(agent: Walker, profile: Profile, url: str) -> None:
    code = agent.code()
    given = agent.exchange(code).get_json()
    assert agent.campaigns(given["access_token"], profile.id) == 200
    assert error_of(agent.exchange(code)) == "invalid_grant"
    assert agent.campaigns(given["access_token"], profile.id) == 401
    assert error_of(agent.refresh(given["refresh_token"])) == "invalid_grant"
    with db.transaction(url) as session:
        assert session.scalars(sa.select(OAuthAuthorization.status)).one() == "revoked"


def test_a_code_lives_for_a_minute(agent: Walker) -> None:
    with time_machine.travel(db.now(), tick=False) as clock:
        code, late = agent.code(), agent.code()
        clock.shift(timedelta(seconds=59))
        assert agent.exchange(code).status_code == 200
        clock.shift(timedelta(seconds=1))
        assert error_of(agent.exchange(late)) == "invalid_grant"


def test_a_code_is_for_the_client_and_the_address_it_was_made_for(agent: Walker, client: FlaskClient) -> None:
    other = Walker(client, verifier=agent.verifier)
    other.register()
    code = agent.code()
    assert error_of(other.exchange(code)) == "invalid_grant"
    assert error_of(agent.exchange(code, redirect_uri="http://127.0.0.1:49153/callback")) == "invalid_grant"
    assert error_of(agent.exchange(code, redirect_uri=None)) == "invalid_grant"
    assert agent.exchange(code).status_code == 200


def test_the_second_use_of_a_refresh_token_ends_the_family(agent: Walker, profile: Profile) -> None:
    first = agent.exchange(agent.code()).get_json()
    second = agent.refresh(first["refresh_token"]).get_json()
    assert agent.campaigns(second["access_token"], profile.id) == 200
    assert error_of(agent.refresh(first["refresh_token"])) == "invalid_grant"
    assert agent.campaigns(second["access_token"], profile.id) == 401
    assert error_of(agent.refresh(second["refresh_token"])) == "invalid_grant"


def test_a_refresh_may_narrow_but_never_widen(agent: Walker) -> None:
    first = agent.exchange(agent.code()).get_json()
    assert error_of(agent.refresh(first["refresh_token"], scope="mcp:read mcp:read_pii")) == "invalid_scope"
    narrowed = agent.refresh(first["refresh_token"], scope="mcp:read").get_json()
    assert narrowed["scope"] == "mcp:read"
    assert agent.refresh(narrowed["refresh_token"]).get_json()["scope"] == "mcp:read mcp:write"


def test_a_refresh_token_lives_for_thirty_days_from_its_last_use(agent: Walker, profile: Profile) -> None:
    with time_machine.travel(db.now(), tick=False) as clock:
        one = agent.exchange(agent.code()).get_json()
        clock.shift(timedelta(days=1))
        assert agent.campaigns(one["access_token"], profile.id) == 401
        clock.shift(timedelta(days=28, hours=23))
        two = agent.refresh(one["refresh_token"]).get_json()
        clock.shift(timedelta(days=29))
        three = agent.refresh(two["refresh_token"]).get_json()
        clock.shift(timedelta(days=30))
        assert error_of(agent.refresh(three["refresh_token"])) == "invalid_grant"


def test_a_refresh_token_is_for_its_client(agent: Walker, client: FlaskClient) -> None:
    given = agent.exchange(agent.code()).get_json()
    other = Walker(client)
    other.register()
    assert error_of(other.refresh(given["refresh_token"])) == "invalid_grant"
    assert agent.refresh(given["refresh_token"]).status_code == 200


def test_revocation_answers_the_same_whatever_was_sent(agent: Walker, client: FlaskClient, profile: Profile) -> None:
    given = agent.exchange(agent.code()).get_json()
    other = Walker(client)
    other.register()
    attempts = [
        other.revoke(given["access_token"]),
        agent.revoke("nonsense"),
        agent.revoke("", token_type_hint="odd"),
        agent.revoke(given["access_token"], client_id=None),
        agent.revoke(given["access_token"], client_id="unknown"),
        client.post("/oauth/revoke", json={"token": given["access_token"]}),
        client.post("/oauth/revoke", data={"token": "nonsense"}, headers={"Authorization": "Basic é"}),
    ]
    assert {(one.status_code, one.data) for one in attempts} == {(200, b"")}
    assert agent.campaigns(given["access_token"], profile.id) == 200
    agent.revoke(given["access_token"])
    assert agent.campaigns(given["access_token"], profile.id) == 401
    assert error_of(agent.refresh(given["refresh_token"])) == "invalid_grant"


def test_a_denial_goes_back_as_one(agent: Walker, url: str) -> None:
    answer = query_of(agent.decide("deny"))
    assert (answer["error"], answer["state"]) == ("access_denied", "st/1 &")
    assert answer["iss"]
    with db.transaction(url) as session:
        assert session.scalars(sa.select(OAuthAuthorization.status)).one() == "denied"
        assert session.scalars(sa.select(AuditEntry.action)).one() == "oauth_authorization.denied"


def test_two_clicks_are_one_decision(agent: Walker, client: FlaskClient, url: str) -> None:
    # the browser heeds the answer to the second click alone
    sent = {"form_token": form_token(agent.ask()), "decision": "allow", "scope": ["mcp:read"]}
    first, second = (client.post("/oauth/authorize", query_string=agent.asking(), data=sent) for _ in range(2))
    other = client.post("/oauth/authorize", query_string=agent.asking(), data={**sent, "scope": ["mcp:write"]})
    assert "This request is over" in other.text
    assert error_of(agent.exchange(query_of(first)["code"])) == "invalid_grant"
    assert agent.exchange(query_of(second)["code"]).get_json()["scope"] == "mcp:read"
    used = client.post("/oauth/authorize", query_string=agent.asking(), data=sent)
    assert "This request is over" in used.text
    sent = {"form_token": form_token(agent.ask()), "decision": "deny"}
    denied = [client.post("/oauth/authorize", query_string=agent.asking(), data=sent) for _ in range(2)]
    assert [query_of(one)["error"] for one in denied] == ["access_denied"] * 2
    with db.transaction(url) as session:
        assert sorted(session.scalars(sa.select(OAuthAuthorization.status))) == ["denied", "granted"]


def test_a_click_a_minute_later_is_no_second_one_of_two(agent: Walker, client: FlaskClient) -> None:
    with time_machine.travel(db.now(), tick=False) as clock:
        sent = {"form_token": form_token(agent.ask()), "decision": "allow", "scope": ["mcp:read"]}
        given = client.post("/oauth/authorize", query_string=agent.asking(), data=sent)
        clock.shift(AGAIN_WITHIN)
        late = client.post("/oauth/authorize", query_string=agent.asking(), data=sent)
    assert query_of(given)["code"]
    assert "This request is over" in late.text


def test_a_form_that_is_not_ours_decides_nothing(agent: Walker, client: FlaskClient, url: str) -> None:
    page = agent.ask()
    stolen = form_token(client.application.test_client().get("/sign-in"))  # type: ignore[attr-defined]
    for given in ({}, {"form_token": ""}, {"form_token": stolen}, {"form_token": form_token(page)[:-1] + "g"}):
        sent = {"decision": "allow", "scope": "mcp:read", **given}
        assert client.post("/oauth/authorize", query_string=agent.asking(), data=sent).status_code == 403
    with db.transaction(url) as session:
        assert session.scalars(sa.select(OAuthAuthorization.status)).one() == "requested"


def test_a_decision_is_for_what_was_shown_and_for_ten_minutes(agent: Walker, client: FlaskClient) -> None:
    with time_machine.travel(db.now(), tick=False) as clock:
        sent = {"form_token": form_token(agent.ask(scope="mcp:read")), "decision": "allow", "scope": "mcp:write"}
        swapped = client.post("/oauth/authorize", query_string=agent.asking(scope="mcp:write"), data=sent)
        assert "This request is over" in swapped.text
        clock.shift(timedelta(minutes=10))
        late = client.post("/oauth/authorize", query_string=agent.asking(scope="mcp:read"), data=sent)
        assert "This request is over" in late.text


def test_a_new_consent_replaces_the_earlier_one_once_it_is_used(agent: Walker, profile: Profile) -> None:
    old = agent.exchange(agent.code()).get_json()
    code = agent.code()
    assert agent.campaigns(old["access_token"], profile.id) == 200
    fresh = agent.exchange(code).get_json()
    assert agent.campaigns(old["access_token"], profile.id) == 401
    assert agent.campaigns(fresh["access_token"], profile.id) == 200


def test_an_older_code_does_not_end_a_newer_consent(agent: Walker, profile: Profile) -> None:
    older, newer = agent.code(), agent.code()
    fresh = agent.exchange(newer).get_json()["access_token"]
    assert error_of(agent.exchange(older)) == "invalid_grant"
    assert agent.campaigns(fresh, profile.id) == 200


def test_two_people_of_one_agent_do_not_end_each_other(agent: Walker, url: str, profile: Profile) -> None:
    first = agent.exchange(agent.code()).get_json()
    bob = people.user(url)
    people.member(url, bob, profile.workspace_id, Role.VIEWER)
    sign_in(agent.browser, people.session_of(url, bob))
    second = agent.exchange(agent.code()).get_json()
    assert agent.campaigns(first["access_token"], profile.id) == 200
    assert agent.campaigns(second["access_token"], profile.id) == 200


def test_the_token_reaches_every_profile_of_the_person_and_no_other(agent: Walker, url: str, ada: User) -> None:
    from tests.factories import accounts

    sibling, foreign = accounts.profile(url, name="Second"), accounts.profile(url, name="Foreign")
    people.member(url, ada, sibling.workspace_id, Role.VIEWER)
    token = agent.exchange(agent.code()).get_json()["access_token"]
    assert agent.campaigns(token, sibling.id) == 200
    assert agent.campaigns(token, foreign.id) == 404


def test_an_agent_that_is_used_is_remembered_and_an_unused_one_forgotten(agent: Walker, url: str, ada: User) -> None:
    with time_machine.travel(db.now(), tick=False) as clock:
        unused = Walker(agent.browser)
        unused.register()
        clock.shift(timedelta(days=20))
        sign_in(agent.browser, people.session_of(url, ada))
        agent.exchange(agent.code())
        clock.shift(timedelta(days=11))
        Walker(agent.browser).register()
        with db.transaction(url) as session:
            known = set(session.scalars(sa.select(OAuthClient.client_id)))
        assert agent.client_id in known
        assert unused.client_id not in known


def test_no_secret_is_stored_or_logged(
    agent: Walker, settings: Settings, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    from api import logs

    logs.configure("DEBUG")
    code = agent.code()
    given = agent.exchange(code).get_json()
    again = agent.refresh(given["refresh_token"]).get_json()
    db.close_engines(settings.operational_url)
    stored = b"".join(path.read_bytes() for path in settings.home.glob("operational.db*"))
    logged = capsys.readouterr().err
    assert "/oauth/token" in logged
    for secret in (code, *(one[name] for one in (given, again) for name in ("access_token", "refresh_token"))):
        assert secret.encode() not in stored
        assert secret not in logged
