"""/webhooks/subscriptions and /webhooks/deliveries."""

from __future__ import annotations

from typing import Any

from api import auth, context, db, op_lists
from api.audit import Attempt, record, target
from api.auth import Kind
from api.bodies import Nothing
from api.guard import caller_guarded
from api.http import Blueprint
from api.models import ApiKey, WebhookDelivery, WebhookSubscription
from api.oauth import families
from api.op_lists import By, ListQuery
from api.roles import Role
from api.scopes import Scope
from api.v1.webhooks import subscriptions
from api.v1.webhooks.schemas import (
    CreatedWebhook,
    DeliveriesQuery,
    NewSubscription,
    Rotation,
    SubscriptionChange,
    WebhookDeleted,
    WebhookDeliveryRow,
    WebhookQueued,
    WebhookReplayed,
    WebhookRow,
    WebhookSecret,
    WebhookShape,
)
from api.v1.webhooks.subscriptions import Place
from api.webhooks.emitting import emit_test
from api.writing import actor, idempotent, session

bp = Blueprint("webhooks", __name__, description="Being told of what happens.")

KINDS = frozenset({Kind.API_KEY, Kind.SESSION})
READS: dict[str, Any] = {"scope": Scope.CONNECTIONS_READ, "kinds": KINDS, "role": Role.ADMIN}
CHANGES: dict[str, Any] = {"scope": Scope.CONNECTIONS_WRITE, "kinds": KINDS, "role": Role.ADMIN}
ORDER = [
    By(WebhookSubscription.created_at, lambda row: row.created_at, descending=True),
    By(WebhookSubscription.id, lambda row: row.id),
]
NEWEST = [
    By(WebhookDelivery.created_at, lambda row: row.created_at, descending=True),
    By(WebhookDelivery.id, lambda row: row.id),
]
# an address may hold a secret of its receiver's, so the trail says nothing of it
TOLD_OF = ("events", "status", "consecutive_failures")
SHOWN = ("status", "attempts", "last_status", "last_error", "next_attempt_at", "created_at", "event_id")


@bp.route("/webhooks/subscriptions")
@caller_guarded(**READS)
@bp.arguments(ListQuery, location="query")
@bp.response(200, WebhookRow(many=True))
def subscription_list(query: dict[str, Any]) -> list[Any]:
    """Who is told of what, newest first

    A key sees the subscriptions of its profile; a signed-in admin those of the workspace or profile they name.
    """
    place = _place()
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        chosen = subscriptions.of(place)
        return op_lists.page(
            reading, chosen, ORDER, query, route="/webhooks/subscriptions", owner=place.owner, filters={}
        )  # fmt: skip


@bp.route("/webhooks/subscriptions", methods=["POST"])
@caller_guarded(**CHANGES)
@bp.arguments(NewSubscription)
@idempotent(once_shown=["secret"])
@bp.response(201, CreatedWebhook)
def create_subscription(body: dict[str, Any]) -> dict[str, Any]:
    """Subscribe an address to events

    The answer is the only one that holds the secret, with which every delivery is signed as Standard Webhooks says.
    """
    place = _place()
    _hold_partner(place)
    made, secret = subscriptions.create(session(), context.settings(), place=place, wanted=body)
    _record("webhook_subscription.created", made, after={"events": made.events})
    return {**_told(made), "secret": secret}


@bp.route("/webhooks/subscriptions/<subscription_id>", methods=["PATCH"])
@caller_guarded(**CHANGES, uuids=["subscription_id"])
@bp.arguments(SubscriptionChange)
@idempotent()
@bp.response(200, WebhookShape)
def change_subscription(body: dict[str, Any], subscription_id: str) -> dict[str, Any]:
    """Change the address or the kinds, pause, or go on

    What happens while it is paused is not told later; what was on its way waits. One that failed is not paused: it
    is made active again, or deleted.
    """
    place = _place()
    _hold_partner(place)
    found = subscriptions.locked(session(), place, subscription_id, for_address="url" in body)
    before = _kept(found)
    subscriptions.change(session(), found, wanted=body)
    after = _kept(found)
    names = [name for name in TOLD_OF if after[name] != before[name]]
    about = {"before": {name: before[name] for name in names}, "after": {name: after[name] for name in names}}
    outcome = "done" if after != before else "no_change"
    _record("webhook_subscription.changed", found, outcome=outcome, **about)
    return _told(found)


@bp.route("/webhooks/subscriptions/<subscription_id>", methods=["DELETE"])
@caller_guarded(**CHANGES, uuids=["subscription_id"])
@idempotent()
@bp.response(200, WebhookDeleted)
def delete_subscription(subscription_id: str) -> dict[str, Any]:
    """Delete a subscription with its deliveries

    What is on its way to it is not told any more, and its deliveries are gone from GET /webhooks/deliveries. To keep
    them set `status` to paused instead. Deleted twice it is 404.
    """
    found = subscriptions.locked(session(), _place(), subscription_id)
    _record("webhook_subscription.deleted", found)
    subscriptions.delete(session(), found)
    return {"deleted": True}


@bp.route("/webhooks/subscriptions/<subscription_id>/rotate-secret", methods=["POST"])
@caller_guarded(**CHANGES, uuids=["subscription_id"])
@bp.arguments(Rotation)
@idempotent(once_shown=["secret"])
@bp.response(201, WebhookSecret)
def rotate_secret(body: dict[str, Any], subscription_id: str) -> dict[str, Any]:
    """Replace the secret; the old one signs too for some days

    One old secret signs at a time: a second rotation waits for its end, or ends it at once with `grace_days` 0.
    """
    found = subscriptions.locked(session(), _place(), subscription_id)
    secret = subscriptions.rotate(session(), context.settings(), found, grace_days=body["grace_days"])
    _record("webhook_subscription.secret_rotated", found, after=body)
    return {"secret": secret, "previous_secret_expires_at": found.previous_secret_expires_at}


@bp.route("/webhooks/subscriptions/<subscription_id>/test", methods=["POST"])
@caller_guarded(**CHANGES, uuids=["subscription_id"])
@bp.arguments(Nothing)
@idempotent()
@bp.response(202, WebhookQueued)
def test_subscription(_: dict[str, Any], subscription_id: str) -> dict[str, Any]:
    """Send a test event to this subscription alone

    A `webhook.test`, whatever kinds it asks for, signed and tried again as any other. 202 says that it is queued: GET
    /webhooks/deliveries tells what the receiver answered. While the subscription is paused or failed it waits.
    """
    found = subscriptions.locked(session(), _place(), subscription_id)
    return {"event_id": emit_test(session(), found, "This is a test.").id}


@bp.route("/webhooks/deliveries")
@caller_guarded(**READS)
@bp.arguments(DeliveriesQuery, location="query")
@bp.response(200, WebhookDeliveryRow(many=True))
def delivery_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """What was told to whom and how that went, newest first; kept for 30 days

    Of the subscriptions that the caller sees. `dead` were given up after ten attempts or refused with 410, and can be
    replayed. The body that was sent is not told.
    """
    place = _place()
    filters = {name: query[name] for name in ("subscription_id", "status") if query[name] is not None}
    narrowed = [getattr(WebhookDelivery, name) == value for name, value in filters.items()]
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        parts = subscriptions.instants_of(reading, place, of_one="subscription_id" in filters)
        chosen = [part.where(*narrowed) for part in parts]
        rows = op_lists.page(
            reading, chosen, NEWEST, query, route="/webhooks/deliveries", owner=place.owner, filters=filters
        )  # fmt: skip
        ids = [row.id for row in rows]
        whole = subscriptions.deliveries_of(place).where(WebhookDelivery.id.in_(ids))
        found = {row.WebhookDelivery.id: row for row in reading.execute(whole)}
        return [_delivery(found[one].WebhookDelivery, found[one].type) for one in ids if one in found]


@bp.route("/webhooks/deliveries/<delivery_id>/replay", methods=["POST"])
@caller_guarded(**CHANGES, uuids=["delivery_id"])
@bp.arguments(Nothing)
@idempotent()
@bp.response(202, WebhookReplayed)
def replay_delivery(_: dict[str, Any], delivery_id: str) -> dict[str, Any]:
    """Deliver an event again, under the same `webhook-id`

    A new delivery of the same event, with the attempts of any; a receiver that keeps the ids it has seen does nothing
    twice. One that is still being tried is 409 `invalid_state`/`delivery_in_progress`. It waits while the subscription
    is paused or failed.
    """
    again = subscriptions.replay(session(), _place(), delivery_id)
    return {"delivery_id": again.id, "event_id": again.event_id}


def _hold_partner(place: Place) -> None:
    # an app that is disconnected or suspended at this moment is told nothing more
    if auth.current().is_partner:
        key = session().get_one(ApiKey, auth.current().id)
        families.hold_key(session(), key, place.workspace_id)
        if key.revoked_at is not None:
            raise auth.unauthorized()


def _place() -> Place:
    caller = auth.current()
    profile, workspace = caller.reach.profile, caller.reach.workspace
    workspace_id = workspace.id if workspace else caller.profile.workspace_id
    context.meta(workspace_id=workspace_id, **({"profile_id": profile.id} if profile else {}))
    return Place(workspace_id, profile.id if profile else None, caller.app_id)


def _told(subscription: WebhookSubscription) -> dict[str, Any]:
    return {name: getattr(subscription, name) for name in WebhookShape().fields}


def _delivery(delivery: WebhookDelivery, kind: str) -> dict[str, Any]:
    return {"delivery_id": delivery.id, "type": kind, **{name: getattr(delivery, name) for name in SHOWN}}


def _kept(subscription: WebhookSubscription) -> dict[str, Any]:
    return {name: getattr(subscription, name) for name in ("url", *TOLD_OF)}


def _record(action: str, subscription: WebhookSubscription, *, outcome: str = "done", **change: Any) -> None:
    about = {"target": target("webhook_subscription", subscription.id), **change}
    record(session(), actor(), Attempt(action, about), outcome=outcome)
