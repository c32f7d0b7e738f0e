"""W/reporting-currency and W/tab-counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

import time_machine

from api import db
from api.models import Connection, Profile, Report, User
from api.roles import Role
from tests.api.v1.workspaces.conftest import Ask, data, refusal
from tests.factories import people
from tests.fixtures.statements import statements

TABS = {"top_performers", "recommendations", "experiments", "reports", "connections", "exports"}


def test_the_currency_is_read_changed_and_remembers_who_did_it(
    ask: Ask, url: str, w: str, owner: User, session: str, as_role: Callable[..., str]
) -> None:
    path = f"{w}/reporting-currency"
    untouched = {"currency": "USD", "is_default": True, "updated_at": None, "updated_by": None}
    assert data(ask("GET", path, as_role(Role.VIEWER))) == untouched
    assert data(ask("PATCH", path, session, json={"currency": "USD"})) == untouched
    agent = people.token_of(url, owner, grants=["mcp:write"])
    changed = data(ask("PATCH", path, agent, json={"currency": "EUR"}))
    assert (changed["currency"], changed["is_default"]) == ("EUR", False)
    assert changed["updated_by"] == {"kind": "user_token", "id": owner.id, "display": "Ada"}
    assert data(ask("GET", path, session)) == changed
    rows = data(ask("GET", f"{w}/audit", session))
    assert [(row["action"], row["outcome"]) for row in rows] == [
        ("reporting_currency.changed", "done"),
        ("reporting_currency.changed", "no_change"),
    ]
    assert (rows[0]["before"], rows[0]["after"]) == ({"currency": "USD"}, {"currency": "EUR"})


def test_a_currency_that_is_none_and_a_person_who_may_not_are_refused(
    ask: Ask, url: str, w: str, owner: User, session: str, as_role: Callable[..., str]
) -> None:
    path = f"{w}/reporting-currency"
    for body in ({}, {"currency": "usd"}, {"currency": "ZZZ"}, {"currency": None}, {"currency": "EUR", "more": 1}):
        assert refusal(ask("PATCH", path, session, json=body)) == (422, "validation_error", None), body
    body = {"currency": "EUR"}
    assert refusal(ask("PATCH", path, as_role(Role.EDITOR), json=body)) == (403, "forbidden", "role_required")
    assert refusal(ask("GET", path, as_role(Role.GUEST))) == (403, "forbidden", "role_required")
    reader = people.token_of(url, owner)
    assert refusal(ask("PATCH", path, reader, json=body)) == (403, "insufficient_scope", None)
    assert data(ask("GET", path, session))["currency"] == "USD"


def broken(url: str, profile: Profile, status: str) -> None:
    with db.transaction(url) as session:
        one = Connection(profile_id=profile.id, provider="stripe", kind="payments", display_name="Till", status=status)
        one.external_account_id, one.base_url, one.token = db.new_id(), "https://p", "t"
        session.add(one)


def test_tabs_count_what_needs_somebody_among_ones_own_profiles(
    ask: Ask, url: str, w: str, profile: Profile, session: str, as_role: Callable[..., str]
) -> None:
    with db.transaction(url) as unit:
        sibling = Profile(workspace_id=profile.workspace_id, name="S", timezone="UTC", reporting_currency="USD")
        unit.add(sibling)
    for of, status in ((profile, "needs_action"), (sibling, "reconnect_required"), (sibling, "active")):
        broken(url, of, status)
    counted = data(ask("GET", f"{w}/tab-counts", session))
    assert set(counted["tabs"]) == set(counted["since"]) == TABS
    assert counted["tabs"] == {**dict.fromkeys(TABS, 0), "connections": 2}
    assert data(ask("GET", f"{w}/tab-counts", as_role(Role.GUEST)))["tabs"]["connections"] == 1
    one = ask("GET", f"{w}/tab-counts?profile_id={sibling.id}", session)
    assert data(one)["tabs"]["connections"] == 1


def report(url: str, profile: Profile, ready_at: datetime | None, status: str) -> None:
    with db.transaction(url) as session:
        one = Report(workspace_id=profile.workspace_id, profile_id=profile.id, template="overview", format="html")
        one.date_from, one.date_to, one.locale = date(2026, 3, 1), date(2026, 3, 7), "en"
        one.status, one.ready_at = status, ready_at
        session.add(one)


def test_the_tab_counts_reports_that_became_ready_since_it_was_seen(
    ask: Ask, url: str, w: str, profile: Profile, session: str, as_role: Callable[..., str]
) -> None:
    with db.transaction(url) as unit:
        sibling = Profile(workspace_id=profile.workspace_id, name="S", timezone="UTC", reporting_currency="USD")
        unit.add(sibling)
    guest, at = as_role(Role.GUEST), db.now() + timedelta(minutes=1)
    for of, ready_at, status in (
        (profile, at, "ready"), (profile, at, "sent"), (sibling, at, "sending"), (profile, None, "rendering"),
        (profile, None, "failed"), (profile, at - timedelta(days=1), "ready"),
    ):  # fmt: skip
        report(url, of, ready_at, status)

    def counted(token: str) -> int:
        return int(data(ask("GET", f"{w}/tab-counts", token))["tabs"]["reports"])

    assert (counted(session), counted(guest)) == (3, 2)
    with time_machine.travel(at + timedelta(minutes=1), tick=False):
        data(ask("POST", f"{w}/tab-counts/seen", session, json={"tab": "reports"}))
        assert (counted(session), counted(guest)) == (0, 2)


def test_a_tab_is_counted_from_the_last_look_and_before_it_from_joining(
    ask: Ask, w: str, owner: User, session: str, as_role: Callable[..., str]
) -> None:
    start = db.now().replace(microsecond=0)
    before = data(ask("GET", f"{w}/tab-counts", session))["since"]
    assert len(set(before.values())) == 1
    with time_machine.travel(start + timedelta(hours=1), tick=False):
        seen = data(ask("POST", f"{w}/tab-counts/seen", session, json={"tab": "reports"}))
        assert datetime.fromisoformat(seen["seen_at"]) == start + timedelta(hours=1)
        guest = as_role(Role.GUEST)
        assert data(ask("POST", f"{w}/tab-counts/seen", guest, json={"tab": "exports"}))["tab"] == "exports"
    with time_machine.travel(start + timedelta(hours=2), tick=False):
        again = data(ask("POST", f"{w}/tab-counts/seen", session, json={"tab": "reports"}))
        after = data(ask("GET", f"{w}/tab-counts", session))["since"]
        assert datetime.fromisoformat(after["reports"]) == datetime.fromisoformat(again["seen_at"])
        assert {**after, "reports": None} == {**before, "reports": None}
        asked = f"{w}/tab-counts?since=2026-01-02T03:04:05Z"
        assert set(data(ask("GET", asked, session))["since"].values()) == {"2026-01-02T03:04:05.000Z"}


def test_a_tab_or_an_instant_that_is_none_is_refused(ask: Ask, w: str, session: str) -> None:
    for body in ({}, {"tab": "inbox"}, {"tab": None}):
        answer = ask("POST", f"{w}/tab-counts/seen", session, json=body)
        assert refusal(answer) == (422, "validation_error", None)
    for since in ("yesterday", "2026-01-02T03:04:05", "2100-01-01T00:00:00Z"):
        assert refusal(ask("GET", f"{w}/tab-counts?since={since}", session)) == (400, "invalid_parameter", None)


def test_failed_exports_are_counted_without_reading_those_that_were_sent(
    ask: Ask, url: str, w: str, session: str
) -> None:
    engine = db.engine_for(url, durable=False)
    with statements(engine) as run:
        data(ask("GET", f"{w}/tab-counts", session))
    (asked,) = (one for one in run if "FROM export_rows" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1]).all()
    assert "COVERING INDEX ix_export_rows_failed (profile_id=? AND failed_at>?)" in plan[0].detail


def test_who_changed_the_currency_is_told_without_reading_all_that_the_trail_tells_since(
    ask: Ask, url: str, w: str, session: str
) -> None:
    # among a million entries of the trail it took a third of a second
    data(ask("PATCH", f"{w}/reporting-currency", session, json={"currency": "EUR"}))
    engine = db.engine_for(url, durable=False)
    with statements(engine) as run:
        told = data(ask("GET", f"{w}/reporting-currency", session))
    assert told["updated_by"]["kind"] == "session"
    (asked,) = (one for one in run if "FROM audit_entries" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1]).all()
    assert "ix_audit_entries_workspace_id_at (workspace_id=? AND at>? AND at<?)" in plan[0].detail
