"""PUT /conversion-sync/catalog: tighter for everybody, looser for a signed-in admin, and what follows at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from api import agreements, db
from api.models import AgreementSignature, AuditEntry, ExportDestination, Profile, Workspace
from api.roles import Role
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, exports, people

PATH = "/conversion-sync/catalog"


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.EXPORTS_WRITE, Scope.EXPORTS_READ])


def put(key: Caller, mode: str, types: list[dict[str, Any]] | None = None) -> Any:
    body: dict[str, Any] = {"privacy_mode": mode} | ({"conversion_types": types} if types is not None else {})
    return key("PUT", PATH, json=body)


def data(response: Any) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.get_json()["data"]
    return found


def leaving(answer: dict[str, Any]) -> dict[str, bool]:
    """The types that leave, each with whether its value does."""
    return {one["type"]: one["send_value"] for one in answer["conversion_types"] if one["enabled"]}


def mode_of(url: str, profile: Profile) -> str:
    with db.transaction(url) as session:
        return session.get_one(Profile, profile.id).privacy_mode


def sign(url: str, profile: Profile) -> None:
    with db.transaction(url) as session:
        signed = AgreementSignature(profile_id=profile.id, version=agreements.VERSION, text_hash=agreements.text_hash())
        signed.signatory_name = signed.signatory_title = "Ada"
        signed.signed_by_kind, signed.signed_by_id = "session", "x"
        session.add(signed)


def test_a_key_tightens_and_only_payments_and_leads_go_on_leaving(key: Caller, url: str, profile: Profile) -> None:
    open_ = data(put(key, "standard"))
    assert (open_["changed"], len(leaving(open_)), set(leaving(open_).values())) == (False, 7, {True})
    tight = data(put(key, "platform_safe"))
    assert (tight["previous_privacy_mode"], tight["privacy_mode"], tight["changed"]) == (
        "standard", "platform_safe", True,
    )  # fmt: skip
    assert leaving(tight) == {"payment_received": False, "lead_created": False}
    assert mode_of(url, profile) == "platform_safe"
    with db.transaction(url) as session:
        entries = session.execute(sa.select(AuditEntry.category, AuditEntry.action, AuditEntry.outcome)).all()
        last = [tuple(row) for row in entries[-2:]]
    assert last == [
        ("privacy", "privacy_mode.changed", "done"),
        ("classification", "conversion_catalog.changed", "done"),
    ]


def test_what_was_chosen_in_the_open_is_no_allow_list(key: Caller, url: str, profile: Profile) -> None:
    chosen = [{"type": "closed_won", "enabled": True, "send_value": True}]
    assert leaving(data(put(key, "standard", chosen))) == {"closed_won": True}
    assert leaving(data(put(key, "platform_safe"))) == {"payment_received": False, "lead_created": False}
    allowed = [{"type": "lead_created", "enabled": True, "send_value": True}]
    assert leaving(data(put(key, "platform_safe", allowed))) == {"lead_created": True}
    assert leaving(data(put(key, "platform_safe"))) == {"lead_created": True}


@pytest.mark.parametrize("types", [[{"type": "visit", "enabled": True}], [{"type": "closed_won", "enabled": 1}]])
def test_types_are_the_known_ones_and_flags_are_flags(key: Caller, types: list[dict[str, Any]]) -> None:
    assert refusal(put(key, "standard", types)) == (422, "validation_error", None)


def test_a_type_is_named_once(key: Caller) -> None:
    twice = [{"type": "closed_won", "enabled": True}, {"type": "closed_won", "enabled": False}]
    assert refusal(put(key, "standard", twice)) == (422, "validation_error", None)


def test_only_an_admin_who_is_signed_in_loosens(key: Caller, ask: Ask, url: str, profile: Profile) -> None:
    data(put(key, "platform_safe"))
    refused = (403, "forbidden", "privacy_downgrade_requires_session")
    assert refusal(put(key, "standard")) == refused
    path, admin, editor = f"{PATH}?profile_id={profile.id}", people.user(url), people.user(url)
    people.member(url, admin, profile.workspace_id, Role.ADMIN)
    people.member(url, editor, profile.workspace_id, Role.EDITOR, permissions=["exports.manage"])
    token = people.token_of(url, admin, grants=["mcp:write"])
    body = {"privacy_mode": "standard"}
    assert refusal(ask("PUT", path, token, body)) == refused
    assert refusal(ask("PUT", path, people.session_of(url, editor), body)) == refused
    with db.transaction(url) as session:
        kept = session.scalars(sa.select(AuditEntry.outcome).where(AuditEntry.outcome == "forbidden")).all()
    assert (len(kept), mode_of(url, profile)) == (3, "platform_safe")
    loosened = ask("PUT", path, people.session_of(url, admin), body)
    assert data(loosened)["privacy_mode"] == "standard"


def test_hipaa_needs_the_signed_agreement(key: Caller, url: str, profile: Profile) -> None:
    assert refusal(put(key, "hipaa")) == (409, "invalid_state", "agreement_unsigned")
    assert mode_of(url, profile) == "standard"
    sign(url, profile)
    assert data(put(key, "hipaa"))["privacy_mode"] == "hipaa"
    assert refusal(put(key, "platform_safe")) == (403, "forbidden", "privacy_downgrade_requires_session")


def test_a_profile_made_under_hipaa_chooses_its_types_before_anybody_signs(
    key: Caller, url: str, profile: Profile
) -> None:
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "hipaa"
    assert data(put(key, "hipaa"))["changed"] is False
    chosen = [{"type": "lead_created", "enabled": True, "send_value": False}]
    assert leaving(data(put(key, "hipaa", chosen))) == {"lead_created": False}


def test_a_destination_without_a_type_left_is_switched_off_and_its_queue_skipped(
    key: Caller, url: str, profile: Profile
) -> None:
    emptied = exports.destination(url, profile, conversion_types=["closed_won"])
    exports.destination(url, profile, conversion_types=["closed_won", "lead_created"])
    exports.row(url, emptied, conversion_type="closed_won")
    assert data(put(key, "platform_safe"))["effects"]["destinations_disabled"] == 1
    with db.transaction(url) as session:
        found = session.get_one(ExportDestination, emptied.id)
        assert (found.is_enabled, found.disabled_reason) == (False, "privacy_mode")
    assert [(row.status, row.reason) for row in exports.rows(url)] == [("skipped", "destination_disabled")]


def test_partner_keys_lose_the_scopes_of_personal_data_when_the_mode_tightens(
    key: Caller, url: str, profile: Profile
) -> None:
    app = people.app(url).app.id
    accounts.secret(url, profile, scopes=[Scope.CUSTOMERS_READ, Scope.VISITORS_READ], app_id=app)
    accounts.secret(url, profile, scopes=[Scope.CUSTOMERS_READ], app_id=app, expires_at=db.now())
    accounts.secret(url, profile, scopes=[Scope.CUSTOMERS_READ])
    assert data(put(key, "platform_safe"))["effects"]["partner_scopes_withheld"] == 2
    assert data(put(key, "platform_safe"))["effects"]["partner_scopes_withheld"] == 0


def test_a_profile_without_attribution_may_tighten_and_nothing_else(key: Caller, url: str, profile: Profile) -> None:
    app = people.app(url).app
    with db.transaction(url) as session:
        kept = session.get_one(Profile, profile.id)
        kept.provisioned_by_app_id, kept.attribution_enabled = app.id, False
    assert data(put(key, "platform_safe"))["changed"] is True
    assert refusal(put(key, "platform_safe", [])) == (409, "entitlement_required", None)


def test_a_healthcare_agency_keeps_an_allow_list_in_every_mode(key: Caller, url: str, profile: Profile) -> None:
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).is_healthcare_agency = True
    assert leaving(data(put(key, "standard"))) == {"payment_received": False, "lead_created": False}


def test_the_consent_text_comes_with_the_hash_of_each_language(key: Caller) -> None:
    told = key.get("/conversion-sync/platform-safe/consent").get_json()["data"]
    assert set(told["texts"]) == set(told["text_hashes"]) == {"en", "es"}
    assert len(set(told["text_hashes"].values())) == 2
