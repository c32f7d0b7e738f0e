"""What an app does with profiles: archives its own, adopts where it is let in, switches features."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.models import (
    ApiKey,
    AudienceExclusion,
    AuditEntry,
    Delegation,
    IngestedRecord,
    Membership,
    OAuthAuthorization,
    Profile,
    User,
)
from api.roles import Role
from api.scopes import Scope
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, people
from tests.factories.people import AppCredential


@pytest.fixture
def app(url: str) -> AppCredential:
    return people.app(url)


@pytest.fixture
def owned(ask: Ask, app: AppCredential) -> dict[str, Any]:
    """A profile that the app provisioned, as it was answered."""
    body = {"external_ref": "dealer", "name": "Dealer", "user": {"email": "owner@example.com"}}
    return dict(ask("POST", "/profiles", app.header, body).get_json()["data"])


@pytest.fixture
def owner(url: str, profile: Profile) -> User:
    made = people.user(url)
    people.member(url, made, profile.workspace_id, Role.ADMIN)
    return made


def let_in(url: str, app: AppCredential, profile: Profile, user: User, status: str = "granted") -> None:
    with db.transaction(url) as session:
        session.add(
            OAuthAuthorization(
                kind="consumer_app",
                app_id=app.app.id,
                client_id=app.app.client_id or "",
                client_name="App",
                user_id=user.id,
                workspace_id=profile.workspace_id,
                profile_id=profile.id,
                status=status,
            )
        )


def test_every_answer_about_a_profile_names_it_and_the_app(
    ask: Ask, url: str, app: AppCredential, owned: dict[str, Any], profile: Profile, owner: User
) -> None:
    own, on = owned["profile"]["profile_id"], {"enabled": True}
    let_in(url, app, profile, owner)
    again = {"external_ref": "dealer", "name": "Dealer", "user": {"email": "owner@example.com"}}
    for answer, about in (
        (ask("POST", "/profiles", app.header, again), own),
        (ask("PUT", f"/profiles/{own}/entitlements/atribu_attribution", app.header, on), own),
        (ask("POST", f"/profiles/{profile.id}/adopt", app.header, {"external_ref": "adopted"}), profile.id),
        (ask("DELETE", f"/profiles/{own}", app.header), own),
    ):
        assert answer.status_code == 200, answer.text
        assert answer.get_json()["meta"] == {"client_id": app.app.client_id, "profile_id": about}


def test_an_archive_ends_what_opens_the_profile_and_purges_it(
    ask: Ask, url: str, app: AppCredential, owned: dict[str, Any]
) -> None:
    profile_id = owned["profile"]["profile_id"]
    with db.transaction(url) as session:
        session.add(
            IngestedRecord(profile_id=profile_id, dataset="touches", record_key="k", fingerprint="f", record={})
        )
        session.add(AudienceExclusion(profile_id=profile_id, digest="d" * 64))
    first = ask("DELETE", f"/profiles/{profile_id}", app.header).get_json()["data"]
    assert (first["archived"], first["counts"]["api_keys_revoked"]) == (True, 1)
    assert set(first["counts"]) == {
        "api_keys_revoked", "memberships_removed", "invitations_revoked", "connections_disconnected",
        "destinations_disabled", "retained_conversion_exports", "retained_signal_audit_rows",
    }  # fmt: skip
    again = ask("DELETE", f"/profiles/{profile_id}", app.header).get_json()["data"]
    assert (again["archived"], again["archived_at"]) == (False, first["archived_at"])
    assert ask("GET", "/profiles", owned["api_key"]["key"]).status_code == 401
    assert ask("GET", "/profiles", app.header).get_json()["data"] == []
    with db.transaction(url) as session:
        for model in (IngestedRecord, AudienceExclusion):
            assert session.scalar(sa.select(sa.func.count()).select_from(model)) == 0
        actions = session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions == ["profile.provisioned", "profile.archived"]


def test_only_what_the_app_provisioned_is_its_to_archive(
    ask: Ask, url: str, app: AppCredential, profile: Profile, owned: dict[str, Any]
) -> None:
    people.delegate(url, app.app, profile, external_ref="adopted", kind="adopted")
    path = f"/profiles/{profile.id}"
    assert refusal(ask("DELETE", path, app.header)) == (403, "forbidden", "not_provisioned_by_app")
    other = people.app(url).header
    stranger = ask("DELETE", f"/profiles/{owned['profile']['profile_id']}", other)
    assert refusal(stranger) == (404, "not_found", None)
    assert refusal(ask("DELETE", path, accounts.secret(url, profile)))[2] == "app_credential_required"
    with db.transaction(url) as session:
        assert session.get_one(Profile, profile.id).archived_at is None


def test_an_app_adopts_while_an_admin_lets_it_in(
    ask: Ask, url: str, app: AppCredential, profile: Profile, owner: User
) -> None:
    path, body = f"/profiles/{profile.id}/adopt", {"external_ref": "mine"}
    assert refusal(ask("POST", path, app.header, body)) == (404, "not_found", None)
    let_in(url, app, profile, owner, status="revoked")
    let_in(url, people.app(url), profile, owner)
    assert refusal(ask("POST", path, app.header, body)) == (404, "not_found", None)
    let_in(url, app, profile, owner)
    first = ask("POST", path, app.header, body).get_json()["data"]
    assert (first["adopted"], first["external_ref"], first["workspace_id"]) == (True, "mine", profile.workspace_id)
    again = ask("POST", path, app.header, {"external_ref": "other"}).get_json()["data"]
    assert again == {**first, "adopted": False}
    (row,) = ask("GET", "/profiles", app.header).get_json()["data"]
    assert (row["external_ref"], row["attribution_enabled"], row["provisioned_by_app_id"]) == ("mine", True, None)


def test_whoever_is_no_longer_an_admin_lets_nobody_in(
    ask: Ask, url: str, app: AppCredential, profile: Profile, owner: User
) -> None:
    let_in(url, app, profile, owner)
    with db.transaction(url) as session:
        session.scalars(sa.select(Membership)).one().role = "editor"
    # neither another admin, nor being one elsewhere
    people.member(url, people.user(url), profile.workspace_id, Role.ADMIN)
    people.member(url, owner, accounts.profile(url).workspace_id)
    refused = ask("POST", f"/profiles/{profile.id}/adopt", app.header, {"external_ref": "mine"})
    assert refusal(refused) == (404, "not_found", None)


def test_an_adoption_ends_with_the_profile_and_its_name_is_free_again(
    ask: Ask, url: str, app: AppCredential, profile: Profile, owner: User
) -> None:
    moved = accounts.profile(url, name="Moved")
    people.delegate(url, people.app(url).app, accounts.profile(url), external_ref="mine")
    people.member(url, owner, moved.workspace_id)
    for one in (moved, profile):
        let_in(url, app, one, owner)
    mine, token = {"external_ref": "mine"}, people.session_of(url, owner)
    assert ask("POST", f"/profiles/{moved.id}/adopt", app.header, mine).status_code == 200
    assert ask("DELETE", f"/workspaces/{moved.workspace_id}", token).status_code == 200
    # the consent had ended with the archive, but the name was in use for ever, by a profile that nobody sees
    adopted = ask("POST", f"/profiles/{profile.id}/adopt", app.header, mine)
    assert adopted.status_code == 200, adopted.text
    assert adopted.get_json()["data"]["profile_id"] == profile.id


def test_names_and_makers_stand_in_the_way_of_an_adoption(
    ask: Ask, url: str, app: AppCredential, profile: Profile, owner: User, owned: dict[str, Any]
) -> None:
    let_in(url, app, profile, owner)
    path = f"/profiles/{profile.id}/adopt"
    in_use = ask("POST", path, app.header, {"external_ref": "dealer"})
    assert refusal(in_use) == (409, "invalid_state", "external_ref_in_use")
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).provisioned_by_app_id = people.app(url).app.id
    made_by_another = ask("POST", path, app.header, {"external_ref": "mine"})
    assert refusal(made_by_another) == (409, "invalid_state", "already_provisioned")
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).archived_at = db.now()
        assert session.scalar(sa.select(sa.func.count()).select_from(Delegation)) == 1
    assert ask("POST", path, app.header, {"external_ref": "mine"}).status_code == 404
    assert ask("POST", "/profiles/x/adopt", app.header, {"external_ref": "m"}).status_code == 400


def test_attribution_opens_the_profile_to_writes_and_closes_it(
    ask: Ask, url: str, app: AppCredential, owned: dict[str, Any]
) -> None:
    profile_id = owned["profile"]["profile_id"]
    path = f"/profiles/{profile_id}/entitlements/atribu_attribution"
    with db.transaction(url) as session:
        owner = session.get_one(User, owned["user_id"])
        owner.email_verified_at = db.now()
    token = people.session_of(url, owner)
    change = {"outcome_target": 5}
    assert refusal(ask("PATCH", f"/profiles/{profile_id}", token, change)) == (409, "entitlement_required", None)
    on = ask("PUT", path, app.header, {"enabled": True}).get_json()["data"]
    assert (on["enabled"], on["changed"], on["feature"]) == (True, True, "atribu_attribution")
    assert ask("PATCH", f"/profiles/{profile_id}", token, change).status_code == 200
    again = ask("PUT", path, app.header, {"enabled": True}).get_json()["data"]
    assert again == {**on, "changed": False}
    assert ask("PUT", path, app.header, {"enabled": False}).get_json()["data"]["changed"] is True
    assert ask("PATCH", f"/profiles/{profile_id}", token, change).status_code == 409
    assert ask("GET", f"/profiles/{profile_id}", token).get_json()["data"]["outcome_target"] == 5


def test_features_are_known_by_name_and_of_live_profiles(
    ask: Ask, url: str, app: AppCredential, profile: Profile, owned: dict[str, Any]
) -> None:
    profile_id = owned["profile"]["profile_id"]
    path = f"/profiles/{profile_id}/entitlements"
    unknown = ask("PUT", f"{path}/attribution", app.header, {"enabled": True})
    assert refusal(unknown) == (400, "invalid_parameter", None)
    assert refusal(ask("PUT", f"{path}/partner_audiences", app.header, {"enabled": "true"}))[1] == "validation_error"
    off = ask("PUT", f"{path}/partner_audiences", app.header, {"enabled": False}).get_json()["data"]
    assert (off["enabled"], off["changed"]) == (False, False)
    on = ask("PUT", f"{path}/partner_audiences", app.header, {"enabled": True}).get_json()["data"]
    assert (on["enabled"], on["changed"]) == (True, True)
    people.delegate(url, app.app, profile, external_ref="adopted", kind="adopted")
    adopted = f"/profiles/{profile.id}/entitlements"
    refused = ask("PUT", f"{adopted}/atribu_attribution", app.header, {"enabled": False})
    assert refusal(refused) == (403, "forbidden", "not_provisioned_by_app")
    assert ask("PUT", f"{adopted}/partner_audiences", app.header, {"enabled": True}).status_code == 200
    ask("DELETE", f"/profiles/{profile_id}", app.header)
    assert ask("PUT", f"{path}/partner_audiences", app.header, {"enabled": True}).status_code == 404
    key = accounts.secret(url, profile, scopes=list(Scope), app_id=app.app.id)
    assert refusal(ask("PUT", f"{adopted}/partner_audiences", key, {"enabled": True}))[2] == "app_credential_required"
    with db.transaction(url) as session:
        assert session.scalars(sa.select(ApiKey).where(ApiKey.profile_id == profile_id)).one().revoked_at is not None
