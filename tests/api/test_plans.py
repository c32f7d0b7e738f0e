"""What is spent of a plan's allowances."""

from __future__ import annotations

from datetime import timedelta

from api import db, plans
from api.models import Profile, WebhookSubscription, Workspace
from api.roles import Role
from tests.factories import accounts, people, shared


def test_webhook_subscriptions_of_an_archived_profile_take_no_place(database_url: str) -> None:
    """Paused for good, they kept the workspace from subscribing until somebody deleted each."""
    shop = accounts.profile(database_url)
    with db.transaction(database_url) as session:
        for number, profile_id in enumerate((shop.id, shop.id, None)):
            one = WebhookSubscription(workspace_id=shop.workspace_id, profile_id=profile_id, secret="s")
            one.url = f"https://receiver.example/{number}"
            session.add(one)
        workspace = session.get_one(Workspace, shop.workspace_id)
        assert plans.used(session, workspace, "webhook_subscriptions") == 3
        session.get_one(Profile, shop.id).archived_at = db.now()
        session.flush()
        assert plans.used(session, workspace, "webhook_subscriptions") == 1


def test_what_is_spent_is_the_workspaces_own_and_still_works(sqlite_url: str) -> None:
    """Another workspace has the same; of keys there is one without an end, one to come to it and one that has."""
    shop, other = (accounts.profile(sqlite_url) for _ in range(2))
    for one in (shop, other):
        for end in (None, db.now() + timedelta(days=1), db.now() - timedelta(days=1)):
            accounts.secret(sqlite_url, one, expires_at=end)
            shared.snapshot(sqlite_url, [one], expires_at=end)
        for role in (Role.OWNER, Role.VIEWER, Role.GUEST):
            people.member(sqlite_url, people.user(sqlite_url), one.workspace_id, role)
    with db.transaction(sqlite_url) as session:
        workspace = session.get_one(Workspace, shop.workspace_id)
        spent = {name: plans.used(session, workspace, name, profile_id=shop.id) for name in plans.COUNTED}
    assert spent == {
        "active_profiles": 1, "members": 2, "guests": 1, "api_keys": 2, "webhook_subscriptions": 0, "snapshot_links": 2,
    }  # fmt: skip
