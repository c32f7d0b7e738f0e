"""POST /hooks/store/{connectionId}: what a connected store calls to say."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from flask import Response, request

from api import context, db, errors
from api.body_fields import UUID
from api.guard import public
from api.hooks.answers import acknowledged, kept
from api.hooks.bodies import parsed, taken
from api.hooks.shopify_deliveries import Delivery, is_signed, read
from api.http import Blueprint
from api.models import Connection, StoreDelivery
from api.writing import unkeyed
from connectors.shopify_graph import handle

bp = Blueprint("store_hooks", __name__, description="What stores call to say.")

KIND, PROVIDER = "store", "shopify"
_DESCRIBED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A delivery of the store, signed in the header X-Shopify-Hmac-Sha256.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    },
    "responses": {
        200: kept("Kept; the same delivery again changes nothing."),
        400: {"description": "Signed, but no delivery."},
        401: {"description": "Not signed with the secret of this deployment's app."},
        404: {"description": "No such connection, or the connection of another shop."},
        413: {"description": "Larger than 4 MiB."},
        503: {"description": "This deployment has no secret of an app."},
    },
}


@bp.route("/hooks/store/<connection_id>", methods=["POST"])
@public
@unkeyed
@bp.doc(**_DESCRIBED)
def store_hook(connection_id: str) -> Response:
    """Take a delivery of a connected store

    The signature is checked over the bytes as they came, before they are parsed. A delivery is kept once and answered
    at once; the worker acts on it. What it tells of people is kept as hashes.
    """
    settings = context.settings()
    secrets = [one.get_secret_value() for one in (settings.store_secret, settings.store_secret_before) if one]
    if not secrets:
        raise errors.SERVICE_UNAVAILABLE(headers={"Retry-After": "3600"})
    body = taken()
    if not is_signed(secrets, request.headers.get("X-Shopify-Hmac-Sha256", ""), body):
        raise errors.UNAUTHORIZED()
    connection = _connection(settings.operational_url, connection_id)
    try:
        delivery = read(request.headers, parsed(body), profile_id=connection.profile_id, now=db.now())
    except ValueError:
        raise errors.INVALID_REQUEST("The body is not a delivery.", reason="malformed_json") from None
    if not _is_of(connection, delivery.shop):
        raise errors.NOT_FOUND()
    _keep(settings.operational_url, connection, delivery)
    return acknowledged()


def _connection(url: str, connection_id: str) -> Connection:
    chosen = sa.select(Connection).where(
        Connection.id == connection_id.lower(), Connection.kind == KIND, Connection.provider == PROVIDER
    )
    found = None
    if re.fullmatch(UUID, connection_id):
        # one that was disconnected still hears what becomes of its data
        with db.transaction(url, durable=False) as session:
            found = session.scalars(chosen).one_or_none()
    if found is None:
        raise errors.NOT_FOUND()
    return found


def _keep(url: str, connection: Connection, delivery: Delivery) -> None:
    row = StoreDelivery(
        profile_id=connection.profile_id,
        connection_id=connection.id,
        delivery_id=delivery.id,
        event_id=delivery.event_id,
        topic=delivery.topic,
        occurred_at=delivery.at,
        facts=delivery.facts,
    )
    try:
        with db.transaction(url) as session:
            session.add(row)
    except sa.exc.IntegrityError:
        # it is here already
        return


def _is_of(connection: Connection, shop: str) -> bool:
    try:
        return handle(shop) == handle(connection.external_account_id)
    except ValueError:
        return False
