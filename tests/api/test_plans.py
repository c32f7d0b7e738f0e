"""What is spent of a plan's allowances."""

from __future__ import annotations

from api import db, plans
from api.models import Profile, WebhookSubscription, Workspace
from tests.factories import accounts


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
