"""Which deliveries leave next: read a few at a time, however many wait for a receiver."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from api import db, postponed
from api.models import WebhookDelivery, WebhookSubscription
from api.postponed import SLACK
from touchledger.settings import Settings

# of one receiver at once: a slow one does not keep the others waiting
OF_ONE = 2
WAITS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
JITTER = 0.2
# longer than any attempt can take: whoever claimed it is gone
CLAIMED_FOR = timedelta(minutes=2)
OPEN = ("pending", "retrying")


def due(settings: Settings, most: int) -> list[str]:
    """Ids of what is due, a few of each receiver, less those on their way to it; workspaces take turns, oldest first.

    Who has more on its way, or more that waits, comes after who has less.
    """
    at = db.now()
    # each receiver's first ones alone: 100,000 that wait for one would be put in order in every round
    each = sa.union_all(*(_next_of_each(at, place) for place in range(1, OF_ONE + 1)))
    # else SQLite looks for each of them three times
    first = each.cte("first").prefix_with("MATERIALIZED")
    ripe = sa.select(WebhookDelivery.next_attempt_at, *first.c).join(first, first.c.id == WebhookDelivery.id).subquery()
    under_way = sa.func.count().label("under_way")
    claimed = sa.select(WebhookDelivery.subscription_id).where(WebhookDelivery.claimed_until >= at)
    # else SQLite reads all deliveries, for the order of their groups
    held = claimed.cte("held").prefix_with("MATERIALIZED")
    counted = sa.select(held.c.subscription_id, under_way).group_by(held.c.subscription_id)
    to_receiver = counted.cte("to_receiver")
    owned = sa.select(WebhookSubscription.workspace_id, sa.func.sum(to_receiver.c.under_way).label("under_way"))
    owned = owned.join(to_receiver, to_receiver.c.subscription_id == WebhookSubscription.id)
    of_workspace = owned.group_by(WebhookSubscription.workspace_id).cte("of_workspace")
    age = ripe.c.next_attempt_at, ripe.c.id
    place = sa.func.row_number().over(partition_by=ripe.c.workspace_id, order_by=age)
    turn = place + sa.func.coalesce(of_workspace.c.under_way, 0)
    chosen = (
        sa.select(ripe.c.id)
        .outerjoin(to_receiver, to_receiver.c.subscription_id == ripe.c.subscription_id)
        .outerjoin(of_workspace, of_workspace.c.workspace_id == ripe.c.workspace_id)
        .where(ripe.c.place + sa.func.coalesce(to_receiver.c.under_way, 0) <= OF_ONE)
    )
    with db.transaction(settings.operational_url, durable=False) as session:
        return list(session.scalars(chosen.order_by(turn, *age).limit(most)))


def is_due(at: datetime, delivery: Any = WebhookDelivery) -> sa.ColumnElement[bool]:
    """Whether a delivery is to be tried at this instant, and nobody has it."""
    until = delivery.claimed_until
    free = sa.or_(until.is_(None), until < at, until > at + CLAIMED_FOR + SLACK)
    return sa.and_(delivery.status.in_(OPEN), delivery.next_attempt_at <= at, free)


def put_right(settings: Settings) -> None:
    """Make due what a clock put off that has been set back since; it would wait until the clock is there again."""
    at = db.now()
    longest = [wait * (1 + JITTER) for wait in WAITS]
    ahead = WebhookDelivery.status.in_(OPEN), WebhookDelivery.next_attempt_at > at + SLACK
    odd = sa.update(WebhookDelivery).where(*ahead, postponed.is_due(at, WebhookDelivery, longest))
    with db.transaction(settings.operational_url) as session:
        session.execute(odd.values(next_attempt_at=at), execution_options={"synchronize_session": False})


def _next_of_each(at: datetime, place: int) -> sa.Select[Any]:
    """Each receiver with its oldest delivery, or the one at that place behind it; without one its id is null."""
    waits = aliased(WebhookDelivery)
    oldest = (
        sa.select(waits.id)
        .where(waits.subscription_id == WebhookSubscription.id, is_due(at, waits))
        .order_by(waits.next_attempt_at, waits.id)
        .limit(1)
        .offset(place - 1)
    )
    return sa.select(
        oldest.scalar_subquery().label("id"),
        WebhookSubscription.id.label("subscription_id"),
        WebhookSubscription.workspace_id,
        sa.literal(place).label("place"),
    ).where(WebhookSubscription.status == "active")
