"""Saying that something happened, in the transaction that makes it happen: both are committed, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.db import now
from api.models import Profile, WebhookDelivery, WebhookEvent, WebhookSubscription
from api.webhooks.kinds import EVERY, KINDS

LARGEST_BYTES = 20_000
CATALOG_EVERY = timedelta(minutes=1)


def emit(
    session: Session,
    kind: str,
    data: Mapping[str, Any],
    *,
    workspace_id: str,
    profile_id: str | None = None,
    subject: str | None = None,
    at: datetime | None = None,
) -> WebhookEvent | None:
    """Tell all who subscribed to this kind of event of the workspace or the profile; None when nobody did.

    `data` holds no personal data, no catalogue and no totals of money. `subject` names what the event is about, where
    later events have to find it; `at` puts the first attempt off.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind} is no kind of event")
    listeners = [one for one in _listeners(session, workspace_id, profile_id) if {kind, EVERY} & set(one.events)]
    if not listeners:
        return None
    event = WebhookEvent(workspace_id=workspace_id, profile_id=profile_id, type=kind, subject=subject, data=dict(data))
    event.occurred_at = now()
    session.add(event)
    session.flush()
    if len(content(event)) >= LARGEST_BYTES:
        raise ValueError(f"an event {kind} is too large")
    _send(session, event, listeners, at)
    return event


def emit_for_profile(session: Session, kind: str, data: Mapping[str, Any], profile_id: str) -> WebhookEvent | None:
    """The same for an event of a profile whose workspace is not at hand."""
    workspace_id = session.get_one(Profile, profile_id).workspace_id
    return emit(session, kind, data, workspace_id=workspace_id, profile_id=profile_id)


def emit_seldom(
    session: Session, kind: str, data: Mapping[str, Any], *, workspace_id: str, profile_id: str, subject: str
) -> WebhookEvent | None:
    """Tell at most once in `CATALOG_EVERY` of the subject; what comes sooner is told when that time is over."""
    earlier = sa.select(WebhookEvent.occurred_at).where(
        WebhookEvent.workspace_id == workspace_id,
        WebhookEvent.type == kind,
        WebhookEvent.subject == subject,
        WebhookEvent.occurred_at > now() - timedelta(hours=1),
    )
    at = None
    for occurred in (*session.scalars(earlier.order_by(WebhookEvent.occurred_at)), now()):
        # each was told when it happened, or a while after the one before
        at = occurred if at is None else max(occurred, at + CATALOG_EVERY)
    return emit(session, kind, data, workspace_id=workspace_id, profile_id=profile_id, subject=subject, at=at)


def emit_test(session: Session, subscription: WebhookSubscription, message: str) -> WebhookEvent:
    """An event for one subscription alone, whatever it subscribed to."""
    event = WebhookEvent(
        workspace_id=subscription.workspace_id,
        profile_id=subscription.profile_id,
        type="webhook.test",
        data={"message": message},
        occurred_at=now(),
    )
    session.add(event)
    session.flush()
    _send(session, event, [subscription], None)
    return event


def content(event: WebhookEvent) -> bytes:
    """The body of every delivery of this event, the same bytes at each attempt."""
    return orjson.dumps(
        {
            "id": event.id,
            "type": event.type,
            "occurred_at": event.occurred_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "api_version": "v1",
            "workspace_id": event.workspace_id,
            "profile_id": event.profile_id,
            "data": event.data,
        }
    )


def _listeners(session: Session, workspace_id: str, profile_id: str | None) -> Iterable[WebhookSubscription]:
    of_profile = WebhookSubscription.profile_id == profile_id if profile_id else sa.false()
    return session.scalars(
        sa.select(WebhookSubscription)
        .where(
            WebhookSubscription.workspace_id == workspace_id,
            WebhookSubscription.status == "active",
            sa.or_(WebhookSubscription.profile_id.is_(None), of_profile),
        )
        .order_by(WebhookSubscription.id)
        # one that is being deleted would otherwise be gone when its delivery is written
        .with_for_update(read=True, key_share=True)
    )


def _send(session: Session, event: WebhookEvent, listeners: Iterable[WebhookSubscription], at: datetime | None) -> None:
    for one in listeners:
        session.add(WebhookDelivery(subscription_id=one.id, event_id=event.id, next_attempt_at=at or now()))
    session.flush()
