"""Subscriptions of one workspace or profile: finding, making, changing and ending them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors, plans
from api.db import now
from api.models import WebhookDelivery, WebhookEvent, WebhookSubscription, Workspace
from api.webhooks import signing
from api.webhooks.egress import one_spelling
from api.webhooks.waiting import OPEN
from touchledger.settings import Settings

# parts of one statement; SQLite takes 500
PARTS = 100


@dataclass(frozen=True)
class Place:
    """Whose subscriptions a caller works on: those of a profile, or all of a workspace; `app_id` is a partner key's."""

    workspace_id: str
    profile_id: str | None
    app_id: str | None = None

    @property
    def owner(self) -> str:
        return self.profile_id or self.workspace_id


def of(place: Place) -> sa.Select[WebhookSubscription]:
    """The subscriptions that are seen from there: for the key of an app, those of this app."""
    chosen = sa.select(WebhookSubscription).where(WebhookSubscription.workspace_id == place.workspace_id)
    if place.app_id is not None:
        chosen = chosen.where(WebhookSubscription.app_id == place.app_id)
    return chosen if place.profile_id is None else chosen.where(WebhookSubscription.profile_id == place.profile_id)


def deliveries_of(place: Place) -> sa.Select[WebhookDelivery, str]:
    """Deliveries to those subscriptions, each with the kind of its event."""
    told = sa.select(WebhookDelivery, WebhookEvent.type)
    return told.join(WebhookEvent, WebhookEvent.id == WebhookDelivery.event_id).where(_is_seen(place))


def instants_of(session: Session, place: Place, *, of_one: bool) -> list[sa.Select[str, datetime]]:
    """Ids of the same deliveries and when they were made: what a page is chosen by, and all of it in one index.

    In a part for each receiver, where they are in the order of the page; in one where there are too many, or where the
    caller asks for those `of_one` anyway.
    """
    instants = sa.select(WebhookDelivery.id, WebhookDelivery.created_at)
    ids = [] if of_one else session.scalars(of(place).with_only_columns(WebhookSubscription.id).limit(PARTS + 1)).all()
    if 0 < len(ids) <= PARTS:
        return [instants.where(WebhookDelivery.subscription_id == one) for one in ids]
    return [instants.where(_is_seen(place))]


def _is_seen(place: Place) -> sa.ColumnElement[bool]:
    return WebhookDelivery.subscription_id.in_(of(place).with_only_columns(WebhookSubscription.id))


def locked(session: Session, place: Place, number: str, *, for_address: bool = False) -> WebhookSubscription:
    """One of them, to be changed; 404 not_found for any other. `for_address`: with what the addresses are of."""
    if for_address:
        # of two changes at once the second sees the first; before the subscription, as whoever archives it does
        session.get_one(Workspace, place.workspace_id, with_for_update={"key_share": True})
    found = session.scalars(of(place).where(WebhookSubscription.id == number).with_for_update()).one_or_none()
    if found is None:
        raise errors.NOT_FOUND()
    return found


def create(
    session: Session, settings: Settings, *, place: Place, wanted: Mapping[str, Any]
) -> tuple[WebhookSubscription, str]:
    """A new subscription and its secret.

    402 plan_upgrade_required when the plan's are all in use, 409 duplicate_subscription for an address that is
    subscribed there already.
    """
    plans.require_room(session, session.get_one(Workspace, place.workspace_id), "webhook_subscriptions")
    _refuse_same(session, place, wanted["url"])
    secret = signing.new_secret()
    made = WebhookSubscription(
        workspace_id=place.workspace_id,
        profile_id=place.profile_id,
        app_id=place.app_id,
        url=wanted["url"],
        events=wanted["events"],
        secret=signing.sealed(settings, secret),
    )
    session.add(made)
    session.flush()
    return made, secret


def change(session: Session, subscription: WebhookSubscription, *, wanted: Mapping[str, Any]) -> None:
    """Another address, other kinds, paused or active; active again forgets what made it fail.

    For another address it was `locked` for that. 409 invalid_state for pausing one that failed.
    """
    if subscription.status == "failed" and wanted.get("status") == "paused":
        raise errors.INVALID_STATE("This subscription failed, and is told nothing until it is made active.")
    spelt = one_spelling(subscription.url)
    if wanted.get("url", spelt) != spelt:
        place = Place(subscription.workspace_id, subscription.profile_id, subscription.app_id)
        _refuse_same(session, place, wanted["url"])
    for name, value in wanted.items():
        setattr(subscription, name, value)
    if wanted.get("status") == "active":
        subscription.failure_reason, subscription.dead_since, subscription.consecutive_failures = None, None, 0
    session.flush()


def rotate(session: Session, settings: Settings, subscription: WebhookSubscription, *, grace_days: int) -> str:
    """A new secret; the old one signs beside it for the days of grace, and without any neither does one before it.

    409 already_rotated while one before it still signs, which would end sooner than was said.
    """
    secret, at = signing.new_secret(), now()
    keeps, ends = grace_days > 0, subscription.previous_secret_expires_at
    if keeps and ends is not None and at < ends:
        words = "The secret before this one still signs; wait for its end, or end both at once with grace_days 0."
        raise errors.INVALID_STATE(words, reason="already_rotated")
    subscription.previous_secret = subscription.secret if keeps else None
    subscription.previous_secret_expires_at = at + timedelta(days=grace_days) if keeps else None
    subscription.secret = signing.sealed(settings, secret)
    session.flush()
    return secret


def delete(session: Session, subscription: WebhookSubscription) -> None:
    """End a subscription, with its deliveries."""
    session.execute(sa.delete(WebhookDelivery).where(WebhookDelivery.subscription_id == subscription.id))
    session.delete(subscription)
    session.flush()


def replay(session: Session, place: Place, number: str) -> WebhookDelivery:
    """A new delivery of the same event; 409 delivery_in_progress for one that has not ended."""
    sought = (
        deliveries_of(place)
        .join(WebhookSubscription, WebhookSubscription.id == WebhookDelivery.subscription_id)
        .where(WebhookDelivery.id == number)
    )
    # a subscription that is being deleted would otherwise be gone when the delivery is written
    held = sought.with_for_update(read=True, key_share=True, of=WebhookSubscription)
    row = session.execute(held).one_or_none()
    if row is None:
        raise errors.NOT_FOUND()
    ended: WebhookDelivery = row.WebhookDelivery
    if ended.status in OPEN:
        raise errors.INVALID_STATE("This delivery is still being tried.", reason="delivery_in_progress")
    again = WebhookDelivery(subscription_id=ended.subscription_id, event_id=ended.event_id)
    session.add(again)
    session.flush()
    return again


def _refuse_same(session: Session, place: Place, url: str) -> None:
    # what another app subscribed is no secret that a refusal may tell
    same = (getattr(WebhookSubscription, name) == value for name, value in vars(place).items())
    there = sa.select(WebhookSubscription.url).where(*same)
    # some were kept as they were sent
    if url in map(one_spelling, session.scalars(there)):
        raise errors.INVALID_STATE("This address is subscribed already.", reason="duplicate_subscription")
