"""The ledger of exports outlives what it is about, and the console counts what failed."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from api import db
from api.models import ExportRow, Profile
from api.roles import Role
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import accounts, exports, people


@pytest.fixture
def admin(url: str, profile: Profile) -> str:
    made = people.user(url)
    people.member(url, made, profile.workspace_id, Role.OWNER)
    return people.session_of(url, made)


def test_the_database_refuses_to_delete_a_row(database_url: str) -> None:
    destination = exports.destination(database_url, accounts.profile(database_url))
    exports.row(database_url, destination)
    with pytest.raises(sa.exc.DatabaseError, match="evidence"), db.transaction(database_url) as session:
        session.execute(sa.delete(ExportRow))
    assert len(exports.rows(database_url)) == 1


def test_a_demo_that_exported_is_archived_and_says_what_stays(ask: Ask, url: str, profile: Profile, admin: str) -> None:
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).is_demo = True
    exports.row(url, exports.destination(url, profile), status="sent")
    assert refusal(ask("DELETE", "/profiles/demo", admin)) == (409, "demo_purge_blocked", None)
    with db.transaction(url) as session:
        assert session.get_one(Profile, profile.id).archived_at is not None
    assert len(exports.rows(url)) == 1
    assert refusal(ask("DELETE", "/profiles/demo", admin)) == (404, "not_found", None)


def test_a_demo_that_never_exported_is_simply_deleted(ask: Ask, url: str, profile: Profile, admin: str) -> None:
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).is_demo = True
    exports.destination(url, profile)
    assert ask("DELETE", "/profiles/demo", admin).status_code == 200


def test_an_archived_workspace_counts_what_it_keeps(ask: Ask, url: str, profile: Profile, admin: str) -> None:
    destination = exports.destination(url, profile)
    exports.row(url, destination, status="sent")
    exports.row(url, destination)
    gone = accounts.profile(url)
    with db.transaction(url) as session:
        # archived before, as a deleted demo is
        found = session.get_one(Profile, gone.id)
        found.workspace_id, found.archived_at = profile.workspace_id, db.now()
    exports.row(url, exports.destination(url, gone), status="skipped")
    answer = ask("DELETE", f"/workspaces/{profile.workspace_id}", admin).get_json()["data"]
    assert answer["counts"]["retained_conversion_exports"] == 3
    assert [row.status for row in exports.rows(url)] == ["sent", "skipped", "skipped"]


def test_the_tab_counts_what_failed_since_the_last_look(ask: Ask, url: str, profile: Profile, admin: str) -> None:
    destination, earlier = exports.destination(url, profile), db.now() - timedelta(hours=1)
    exports.row(url, destination, status="failed", failed_at=earlier)
    exports.row(url, destination, status="failed", failed_at=db.now())
    exports.row(url, destination)
    exports.row(url, exports.destination(url, accounts.profile(url)), status="failed", failed_at=db.now())
    path = f"/workspaces/{profile.workspace_id}/tab-counts"
    assert ask("GET", path, admin).get_json()["data"]["tabs"]["exports"] == 1
    since = (earlier - timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert ask("GET", f"{path}?since={since}", admin).get_json()["data"]["tabs"]["exports"] == 2


def test_the_compliance_overview_counts_destinations_that_are_on(
    ask: Ask, url: str, profile: Profile, admin: str
) -> None:
    for enabled in (True, True, False):
        exports.destination(url, profile, is_enabled=enabled)
    exports.destination(url, profile, deleted_at=db.now())
    (row,) = ask("GET", f"/workspaces/{profile.workspace_id}/compliance-overview", admin).get_json()["data"]["profiles"]
    assert row["enabled_destinations"] == 2
