"""POST /hooks/payments/{provider}: what the payment processor calls to say."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from api import context, db, errors
from api.guard import public
from api.hooks.answers import acknowledged, kept
from api.hooks.bodies import parsed, taken
from api.hooks.settling import take
from api.hooks.stripe_events import is_signed, read
from api.http import Blueprint
from api.writing import unkeyed

bp = Blueprint("hooks", __name__, description="What providers call to say.")

_DESCRIBED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "An event of the processor, signed in the header Stripe-Signature.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    },
    "responses": {
        200: kept("Kept; the same delivery again changes nothing."),
        400: {"description": "Signed, but no event."},
        401: {"description": "Not signed with this deployment's secret within five minutes."},
        404: {"description": "No such processor."},
        413: {"description": "Larger than 4 MiB."},
        503: {"description": "This deployment has no signing secret."},
    },
}


@bp.route("/hooks/payments/<provider>", methods=["POST"])
@public
@unkeyed
@bp.doc(**_DESCRIBED)
def payment_hook(provider: str) -> Response:
    """Take a delivery of the payment processor

    The signature is checked over the bytes as they came, before they are parsed. Deliveries are kept once by their id,
    and may come late, twice and in any order.
    """
    settings = context.settings()
    if provider != "stripe":
        raise errors.NOT_FOUND()
    if settings.billing_webhook_secret is None:
        raise errors.SERVICE_UNAVAILABLE(headers={"Retry-After": "3600"})
    body, header = taken(), request.headers.get("Stripe-Signature", "")
    if not is_signed(settings.billing_webhook_secret.get_secret_value(), header, body, db.now()):
        raise errors.UNAUTHORIZED()
    try:
        event = read(parsed(body))
    except ValueError:
        raise errors.INVALID_REQUEST("The body is not an event.", reason="malformed_json") from None
    with db.transaction(settings.operational_url) as session:
        take(session, settings, event, source=provider)
    return acknowledged()
