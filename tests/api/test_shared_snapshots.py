"""Links to frozen leaderboards: which of them open, and what ends them."""

from __future__ import annotations

from datetime import timedelta

from api import db, plans, purge
from api.models import Profile, SharedSnapshot, Workspace
from api.shared_snapshots import opened, status_of
from tests.factories import accounts, shared


def kept(url: str, row: SharedSnapshot) -> SharedSnapshot:
    with db.transaction(url) as session:
        return session.get_one(SharedSnapshot, row.id)


def test_a_view_of_a_live_link_is_counted_and_of_an_ended_one_opens_nothing(database_url: str) -> None:
    profile, at = accounts.profile(database_url), db.now()
    live, token = shared.snapshot(database_url, [profile])
    _, revoked = shared.snapshot(database_url, [profile], revoked_at=at)
    expired, old = shared.snapshot(database_url, [profile], expires_at=at)
    with db.transaction(database_url) as session:
        found = [opened(session, one, at) for one in (token, token, revoked, old, token[:-1], f"{token[:-1]}+")]
    assert [one and one.id for one in found] == [live.id, live.id, None, None, None, None]
    assert (kept(database_url, live).view_count, kept(database_url, live).last_viewed_at) == (2, at)
    assert kept(database_url, expired).view_count == 0


def test_an_archived_profile_ends_every_link_that_shows_it_and_its_rows_go(database_url: str) -> None:
    gone, stays = accounts.profile(database_url), accounts.profile(database_url, name="Other")
    both, token = shared.snapshot(database_url, [stays, gone])
    alone, _ = shared.snapshot(database_url, [stays])
    long_over, _ = shared.snapshot(database_url, [gone], expires_at=db.now())
    at = db.now()
    with db.transaction(database_url) as session:
        purge.retire(session, [gone.id], at=at)
        assert opened(session, token, at) is None
    ended, untouched, expired = (kept(database_url, one) for one in (both, alone, long_over))
    assert (ended.revoked_at, ended.rows, ended.row_count) == (at, [], 1)
    assert (untouched.revoked_at, len(untouched.rows)) == (None, 1)
    assert (status_of(expired, at), expired.rows) == ("expired", [])


def test_a_link_of_an_archived_workspace_opens_nothing(sqlite_url: str) -> None:
    profile = accounts.profile(sqlite_url)
    _, token = shared.snapshot(sqlite_url, [profile])
    with db.transaction(sqlite_url) as session:
        session.get_one(Workspace, profile.workspace_id).archived_at = db.now()
        assert opened(session, token, db.now()) is None


def test_only_active_links_take_from_the_allowance(sqlite_url: str) -> None:
    profile, at = accounts.profile(sqlite_url), db.now()
    for ends in (at + timedelta(days=1), at + timedelta(days=2), at):
        shared.snapshot(sqlite_url, [profile], expires_at=ends)
    shared.snapshot(sqlite_url, [profile], revoked_at=at)
    shared.snapshot(sqlite_url, [elsewhere(sqlite_url)])
    with db.transaction(sqlite_url) as session:
        assert plans.used(session, session.get_one(Workspace, profile.workspace_id), "snapshot_links") == 2


def elsewhere(url: str) -> Profile:
    return accounts.profile(url, name="Elsewhere")
