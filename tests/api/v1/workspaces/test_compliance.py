"""GET and PATCH W/compliance-overview."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from api import db
from api.models import Erasure, ExportDestination, PiiAccess, Profile, User, Workspace
from api.roles import Role
from api.scopes import DEFAULT_SCOPES, Scope
from api.served import CONVERSION_TYPES
from tests.api.v1.workspaces.conftest import Ask, data, refusal
from tests.factories import accounts, exports, people
from tests.fixtures.statements import statements


def test_each_profile_tells_who_may_read_about_people(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    path, at = f"{w}/compliance-overview", db.now()
    untouched = {
        "profile_id": profile.id,
        "name": "Shop",
        "privacy_mode": "standard",
        "is_healthcare": False,
        "agreement_status": "none",
        "allowed_conversion_types": list(CONVERSION_TYPES),
        "enabled_destinations": 0,
        "partner_apps": 0,
        "keys_with_pii_scopes": 0,
        "last_pii_access_at": None,
        "open_erasures": 0,
        "dpa_state": None,
    }
    assert data(ask("GET", path, session)) == {"healthcare_agency": False, "profiles": [untouched]}
    app, other = people.app(url).app, people.app(url).app
    people.delegate(url, app, profile)
    accounts.secret(url, profile, scopes=[Scope.CUSTOMERS_READ], app_id=other.id)
    accounts.secret(url, profile, scopes=DEFAULT_SCOPES)
    accounts.secret(url, profile, scopes=[Scope.COMMERCE_LIVE], expires_at=at + timedelta(milliseconds=1))
    with db.transaction(url) as unit:
        for status in ("received", "failed", "completed"):
            due = at + timedelta(days=30)
            unit.add(Erasure(profile_id=profile.id, reason="r", status=status, counts={}, due_at=due))
        for hours in (2, 1):
            access: dict[str, Any] = {"workspace_id": profile.workspace_id, "profile_id": profile.id, "actor_id": "u"}
            access |= {"actor_kind": "session", "method": "GET", "route": "/payments", "subject": "payment"}
            unit.add(PiiAccess(**access, record_count=1, pii_level="masked", at=at - timedelta(hours=hours)))
    (row,) = data(ask("GET", path, session))["profiles"]
    assert (row["partner_apps"], row["dpa_state"], row["keys_with_pii_scopes"]) == (2, "not_accepted", 1)
    assert row["open_erasures"] == 2
    assert row["last_pii_access_at"].startswith(f"{at - timedelta(hours=1):%Y-%m-%dT%H:%M:%S}")


def test_an_admin_sets_the_mark_and_only_a_signed_in_owner_takes_it_away(
    ask: Ask, url: str, w: str, profile: Profile, owner: User, session: str, as_role: Callable[..., str]
) -> None:
    path, admin = f"{w}/compliance-overview", as_role(Role.ADMIN)
    with db.transaction(url) as unit:
        unit.get_one(Workspace, profile.workspace_id).pii_mode = "full_default"
    marked = data(ask("PATCH", path, admin, json={"healthcare_agency": True}))
    assert marked["healthcare_agency"] is True
    assert [(row["is_healthcare"], row["allowed_conversion_types"]) for row in marked["profiles"]] == [
        (True, ["lead_created", "payment_received"])
    ]
    with db.transaction(url) as unit:
        assert unit.get_one(Workspace, profile.workspace_id).pii_mode == "masked_default"
    for token in (admin, people.token_of(url, owner, grants=["mcp:write"])):
        refused = ask("PATCH", path, token, json={"healthcare_agency": False})
        assert refusal(refused) == (403, "forbidden", "owner_required")
    assert data(ask("GET", path, session))["healthcare_agency"] is True
    assert data(ask("PATCH", path, session, json={"healthcare_agency": False}))["healthcare_agency"] is False
    rows = data(ask("GET", f"{w}/audit", session))
    assert [(row["action"], row["outcome"], row["error_code"]) for row in rows] == [
        ("healthcare_agency.changed", "done", None),
        ("healthcare_agency.changed", "refused", "forbidden"),
        ("healthcare_agency.changed", "refused", "forbidden"),
        ("healthcare_agency.changed", "done", None),
    ]


def test_the_mark_that_masks_what_agents_are_told_is_told_as_a_change_of_their_settings(
    ask: Ask, w: str, session: str, owner: User, as_role: Callable[..., str]
) -> None:
    data(ask("PUT", f"{w}/mcp-settings", as_role(Role.ADMIN), json={"pii_mode": "full_default"}))
    for _ in range(2):
        data(ask("PATCH", f"{w}/compliance-overview", session, json={"healthcare_agency": True}))
    settings = data(ask("GET", f"{w}/mcp-settings", session))
    # it was told as set by the admin, who had set the other
    assert (settings["pii_mode"], settings["updated_by"]["id"]) == ("masked_default", owner.id)
    masked, full = data(ask("GET", f"{w}/audit?category=privacy", session))
    assert (full["before"], masked["before"]) == ({"pii_mode": "masked_default"}, {"pii_mode": "full_default"})
    assert (masked["action"], masked["after"]) == ("mcp_settings.changed", {"pii_mode": "masked_default"})


def test_the_mark_switches_off_destinations_whose_types_may_not_leave_any_more(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    """They stayed on and sent nothing, while a stricter mode of a profile switches them off."""
    via = exports.connection(url, profile)
    for target, types in (("1", ["quote_presented"]), ("2", ["quote_presented", "lead_created"])):
        exports.destination(url, profile, via, target=target, conversion_types=types)
    (row,) = data(ask("PATCH", f"{w}/compliance-overview", session, json={"healthcare_agency": True}))["profiles"]
    assert row["enabled_destinations"] == 1
    with db.transaction(url) as unit:
        found = {one.target: one.disabled_reason for one in unit.scalars(sa.select(ExportDestination))}
    assert found == {"1": "privacy_mode", "2": None}
    (told,) = data(ask("GET", f"{w}/audit", session))
    assert told["after"] == {"healthcare_agency": True, "destinations_disabled": 1}


def test_the_overview_is_for_admins_and_takes_one_flag(
    ask: Ask, w: str, session: str, as_role: Callable[..., str]
) -> None:
    path = f"{w}/compliance-overview"
    assert refusal(ask("GET", path, as_role(Role.EDITOR))) == (403, "forbidden", "role_required")
    for body in ({}, {"healthcare_agency": "true"}, {"healthcare_agency": None}, {"healthcare_agency": True, "x": 1}):
        assert refusal(ask("PATCH", path, session, json=body)) == (422, "validation_error", None)


def test_when_people_were_last_read_about_is_looked_up_and_not_counted_through(
    ask: Ask, url: str, w: str, profile: Profile, as_role: Callable[..., str]
) -> None:
    session, engine = as_role(Role.ADMIN), db.engine_for(url, durable=False)
    with statements(engine) as run:
        data(ask("GET", f"{w}/compliance-overview", session))
    (asked,) = (one for one in run if "FROM pii_accesses" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1]).all()
    (step,) = (one.detail for one in plan if "pii_accesses" in one.detail)
    assert step == "SEARCH pii_accesses USING COVERING INDEX ix_pii_accesses_profile (workspace_id=? AND profile_id=?)"
    assert not [one.detail for one in plan if "TEMP B-TREE" in one.detail]


def test_of_keys_only_what_is_counted_is_read(
    ask: Ask, url: str, w: str, profile: Profile, as_role: Callable[..., str]
) -> None:
    # each profile went through the keys of all: 25,000 keys of 100 profiles took two seconds
    for scopes in ([Scope.CUSTOMERS_READ], list(DEFAULT_SCOPES), [Scope.CUSTOMERS_READ]):
        accounts.secret(url, profile, scopes=scopes)
    session = as_role(Role.ADMIN)
    with statements(db.engine_for(url, durable=False)) as run:
        (row,) = data(ask("GET", f"{w}/compliance-overview", session))["profiles"]
    assert row["keys_with_pii_scopes"] == 2
    (text,) = (text for text, _ in run if "FROM api_keys" in text)
    assert text.split("FROM")[0].replace("\n", "").split() == [
        "SELECT", "api_keys.profile_id,", "api_keys.app_id,", "api_keys.scopes",
    ]  # fmt: skip
