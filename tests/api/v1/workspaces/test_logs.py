"""GET W/audit and GET W/pii-access-log: rows, filters, order, and who may read them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from api import credentials, db
from api.models import AuditEntry, PiiAccess, Profile, User, WebhookSubscription, Workspace
from api.roles import Role
from api.scopes import Scope
from tests.api.v1.workspaces.conftest import Ask, data, refusal
from tests.factories import accounts, people
from tests.fixtures.statements import statements

NOON = datetime(2026, 11, 10, 12, tzinfo=UTC)
# the trail of the same change sent twice, newest first
TWICE = ("no_change", "done")


def note(url: str, profile: Profile, **more: Any) -> AuditEntry:
    facts = {"actor_kind": "system", "action": "goal.updated", "outcome": "done", "profile_id": profile.id}
    with db.transaction(url) as session:
        entry = AuditEntry(**{**facts, "workspace_id": profile.workspace_id, **more})
        session.add(entry)
    return entry


def access(url: str, profile: Profile, **more: Any) -> PiiAccess:
    facts = {"actor_kind": "session", "actor_id": "u", "method": "GET", "route": "/payments", "subject": "payment"}
    ids = {"workspace_id": profile.workspace_id, "profile_id": profile.id}
    with db.transaction(url) as session:
        row = PiiAccess(**{**facts, **ids, "record_count": 1, "pii_level": "masked", **more})
        session.add(row)
    return row


def minted(ask: Ask, w: str, profile: Profile, session: str, **more: Any) -> dict[str, Any]:
    body = {"profile_id": profile.id, "name": "Server", **more}
    made: dict[str, Any] = data(ask("POST", f"{w}/api-keys", session, json=body), 201)
    return made


@pytest.mark.parametrize("path", ["audit", "pii-access-log"])
def test_the_logs_are_for_admins(ask: Ask, url: str, w: str, as_role: Callable[..., str], path: str) -> None:
    assert ask("GET", f"{w}/{path}", as_role(Role.ADMIN)).status_code == 200
    assert refusal(ask("GET", f"{w}/{path}", as_role(Role.EDITOR))) == (403, "forbidden", "role_required")
    stranger = people.session_of(url, people.user(url))
    assert refusal(ask("GET", f"{w}/{path}", stranger)) == (404, "not_found", None)


def test_a_change_over_http_is_told_with_who_and_what(
    ask: Ask, w: str, profile: Profile, owner: User, session: str
) -> None:
    answer = ask("PATCH", w, session, json={"name": "New"})
    (row,) = data(ask("GET", f"{w}/audit", session))
    assert row["request_id"] == answer.headers["X-Request-Id"]
    assert row["actor"] == {"kind": "session", "id": owner.id, "display": "Ada"}
    assert (row["category"], row["action"], row["profile_id"]) == ("classification", "workspace.changed", None)
    assert row["target"] == {"kind": "workspace", "id": profile.workspace_id, "label": "New"}
    assert (row["before"], row["after"]) == ({"name": "Shop"}, {"name": "New"})
    assert (row["outcome"], row["error_code"]) == ("done", None)
    assert datetime.fromisoformat(row["at"]).tzinfo is not None


def test_a_change_that_changes_nothing_is_told_as_such(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    place = people.member(url, people.user(url), profile.workspace_id, Role.GUEST, profiles=[profile])
    with db.transaction(url) as unit:
        hook = WebhookSubscription(workspace_id=profile.workspace_id, url="https://a.example/", secret="s")
        hook.events = ["*"]
        unit.add(hook)
    app = people.app(url, workspace_id=profile.workspace_id).app
    changes: list[tuple[str, str, dict[str, Any]]] = [
        ("PUT", f"{w}/mcp-settings", {"mcp_writeback_enabled": True}),
        ("PATCH", f"{w}/oauth-apps/{app.id}", {"description": "Told to whoever consents"}),
        ("PATCH", f"{w}/memberships/{place.id}", {"permissions": ["pii.view"]}),
        ("PATCH", f"{w}/profiles/{profile.id}/members/{place.id}", {"role": "viewer"}),
        ("PATCH", f"/webhooks/subscriptions/{hook.id}?workspace_id={profile.workspace_id}", {"status": "paused"}),
    ]
    for method, path, body in changes:
        first, again = (data(ask(method, path, session, json=body)) for _ in range(2))
        # when agents' settings were changed, too
        assert first == again
        for told, outcome in zip(data(ask("GET", f"{w}/audit?category=all&limit=2", session)), TWICE, strict=True):
            assert (path, told["outcome"]) == (path, outcome)
            assert ((told["before"] or None) == told["after"]) is (outcome == "no_change")


def test_keys_and_apps_are_told_by_their_names(
    client: FlaskClient, ask: Ask, w: str, profile: Profile, url: str, session: str
) -> None:
    key = accounts.secret(url, profile, scopes=[Scope.ATTRIBUTION_WRITE, Scope.ANALYTICS_READ])
    changed = client.put(
        "/api/v1/attribution/settings", json={"lookback_days": 30}, headers={"Authorization": f"Bearer {key}"}
    )
    assert changed.status_code == 200
    (row,) = data(ask("GET", f"{w}/audit", session))
    assert (row["action"], row["profile_id"]) == ("attribution_settings.changed", profile.id)
    assert (row["actor"]["kind"], row["actor"]["display"]) == ("api_key", "test")
    assert (row["before"], row["after"]) == ({"lookback_days": 90}, {"lookback_days": 30})


def test_a_revoked_key_is_told_though_nothing_is_left_after_it(
    ask: Ask, w: str, profile: Profile, session: str
) -> None:
    made = data(ask("POST", f"{w}/api-keys", session, json={"profile_id": profile.id, "name": "Key"}), 201)
    assert ask("POST", f"{w}/api-keys/{made['id']}/revoke", session).status_code == 200
    revoked, minted = data(ask("GET", f"{w}/audit?category=credentials", session))
    assert (revoked["action"], revoked["before"], revoked["after"]) == ("api_key.revoked", None, None)
    assert revoked["target"] == minted["target"] == {"kind": "api_key", "id": made["id"], "label": "Key"}
    assert minted["after"]["scopes"] == made["scopes"]


def test_what_a_refused_attempt_kept_is_told_as_refused_and_why(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    start = NOON
    for n, outcome in enumerate(("done", "no_change", "forbidden", "provider_error")):
        note(url, profile, outcome=outcome, at=start + timedelta(seconds=n))
    rows = data(ask("GET", f"{w}/audit", session))
    assert [(row["outcome"], row["error_code"]) for row in rows] == [
        ("failed", "provider_error"),
        ("refused", "forbidden"),
        ("no_change", None),
        ("done", None),
    ]


def test_details_beside_the_usual_ones_are_told_as_what_came_of_it(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    note(url, profile, details={"import_id": "i"}, at=NOON)
    note(url, profile, details={}, at=NOON + timedelta(seconds=1))
    rows = data(ask("GET", f"{w}/audit", session))
    assert [(row["target"], row["before"], row["after"]) for row in rows] == [
        (None, None, None),
        (None, None, {"import_id": "i"}),
    ]


def test_the_trail_tells_when_a_key_ends_as_the_key_does(ask: Ask, w: str, profile: Profile, session: str) -> None:
    # it had come with microseconds and an offset
    key = minted(ask, w, profile, session, expires_in_days=1)
    data(ask("POST", f"{w}/api-keys/{key['id']}/rotate", session, json={}), 201)
    rows = data(ask("GET", f"{w}/audit?category=credentials", session))
    assert [row["after"]["expires_at"] for row in rows] == [key["expires_at"]] * 2


def test_categories_profiles_and_days_narrow_the_trail(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    foreign = accounts.profile(url, name="Foreign")
    with db.transaction(url) as unit:
        sibling = Profile(workspace_id=profile.workspace_id, name="S", timezone="UTC", reporting_currency="USD")
        unit.add(sibling)
        unit.get_one(Workspace, profile.workspace_id).timezone = "America/New_York"
    note(url, foreign, action="foreign.changed")
    for action, more in (
        ("a.changed", {"category": "members"}),
        ("b.changed", {}),
        ("c.changed", {"profile_id": sibling.id}),
        # the last second of the 9th in New York, and the first of the 10th
        ("d.changed", {"at": datetime(2026, 11, 10, 4, 59, 59, tzinfo=UTC)}),
        ("e.changed", {"at": datetime(2026, 11, 10, 5, tzinfo=UTC)}),
    ):
        note(url, profile, **{"action": action, "at": NOON + timedelta(days=1), **more})

    def told(query: str) -> list[str]:
        return sorted(row["action"][0] for row in data(ask("GET", f"{w}/audit?{query}", session)))

    assert told("category=all") == ["a", "b", "c", "d", "e"]
    assert told("") == ["b", "c", "d", "e"]
    assert told("category=members") == ["a"]
    assert told(f"profile_id={sibling.id}") == ["c"]
    assert told("date_from=2026-11-10&date_to=2026-11-10") == ["e"]
    assert told("date_from=2026-11-09&date_to=2026-11-10") == ["d", "e"]
    assert told("date_from=9999-12-30&date_to=9999-12-31") == []
    half = ask("GET", f"{w}/audit?date_from=2026-11-10", session)
    assert refusal(half) == (400, "invalid_date_range", None)
    assert refusal(ask("GET", f"{w}/audit?category=money", session)) == (400, "invalid_parameter", None)
    assert refusal(ask("GET", f"{w}/audit?profile_id={foreign.id}", session)) == (404, "not_found", None)


def test_the_trail_is_paged_newest_first_and_a_cursor_is_good_for_its_filters_only(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    for n in range(5):
        # two at one instant: their ids decide
        note(url, profile, action=f"{n}.changed", at=NOON + timedelta(seconds=n // 2))
    seen, path = [], f"{w}/audit?limit=2"
    for _ in range(3):
        answer = ask("GET", path, session)
        seen += [row["action"][0] for row in data(answer)]
        cursor = answer.get_json()["pagination"]["cursor"]
        path = f"{w}/audit?limit=2&cursor={cursor}"
    assert seen == ["4", "2", "3", "0", "1"]
    first = ask("GET", f"{w}/audit?limit=2", session).get_json()["pagination"]["cursor"]
    mixed = ask("GET", f"{w}/audit?limit=2&category=all&cursor={first}", session)
    assert refusal(mixed) == (400, "invalid_parameter", None)


def test_reads_of_personal_data_are_told_by_person_and_day(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    bob, key = people.user(url, name="Bob"), accounts.secret(url, profile)
    access(url, profile, actor_id=bob.id, at=NOON)
    access(url, profile, actor_kind="api_key", credential_prefix=credentials.shown(key), at=NOON + timedelta(days=1))
    access(url, accounts.profile(url, name="Foreign"), actor_id=bob.id)
    rows = data(ask("GET", f"{w}/pii-access-log", session))
    assert [row["credential_prefix"] for row in rows] == [credentials.shown(key), None]
    (row,) = data(ask("GET", f"{w}/pii-access-log?actor_id={bob.id}", session))
    assert row["actor"] == {"kind": "session", "id": bob.id, "display": "Bob"}
    assert {name: row[name] for name in ("method", "route", "subject", "record_count", "pii_level")} == {
        "method": "GET",
        "route": "/payments",
        "subject": "payment",
        "record_count": 1,
        "pii_level": "masked",
    }
    assert (row["profile_id"], row["customer_key"]) == (profile.id, None)
    assert data(ask("GET", f"{w}/pii-access-log?date_from=9999-12-31&date_to=9999-12-31", session)) == []
    days = ask("GET", f"{w}/pii-access-log?date_from=2026-11-11&date_to=2026-11-11", session)
    assert [one["actor"]["kind"] for one in data(days)] == ["api_key"]
    assert days.get_json()["meta"] == {
        "workspace_id": profile.workspace_id,
        "date_from": "2026-11-11",
        "date_to": "2026-11-11",
    }


@pytest.mark.parametrize(
    ("path", "index"),
    [
        ("audit?category=all", "ix_audit_entries_workspace_id_at"),
        ("audit?category=privacy", "ix_audit_entries_category"),
        ("audit?category=all&profile_id={profile}", "ix_audit_entries_profile"),
        ("audit?category=privacy&profile_id={profile}", "ix_audit_entries_profile_category"),
        ("pii-access-log", "ix_pii_accesses_workspace_id_at"),
        ("pii-access-log?actor_id=u", "ix_pii_accesses_actor"),
        ("pii-access-log?profile_id={profile}", "ix_pii_accesses_profile"),
        ("mcp-writeback-audits", "ix_writebacks_listed"),
        ("mcp-writeback-audits?outcome=pending", "ix_writebacks_outcome"),
        ("mcp-writeback-audits?profile_id={profile}", "ix_writebacks_profile"),
    ],
)
def test_a_page_of_a_log_does_not_read_the_rows_that_it_leaves_out(
    ask: Ask, url: str, w: str, profile: Profile, as_role: Callable[..., str], path: str, index: str
) -> None:
    session, engine = as_role(Role.ADMIN), db.engine_for(url, durable=False)
    with statements(engine) as run:
        data(ask("GET", f"{w}/{path.format(profile=profile.id)}", session))
    table = next(one for one in ("audit_entries", "pii_accesses", "writebacks") if one in index)
    (asked,) = (one for one in run if f"FROM {table}" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1]).all()
    assert f"INDEX {index} (" in plan[0].detail
    # the instant is read off the index; only what shares one is put in order
    assert not [step.detail for step in plan if step.detail == "USE TEMP B-TREE FOR ORDER BY"]
