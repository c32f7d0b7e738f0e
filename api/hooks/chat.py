"""GET and POST /hooks/chat/{connectionId}: what the chat app calls to say."""

from __future__ import annotations

import hmac
import re
from typing import Any

import sqlalchemy as sa
from flask import Response, request
from sqlalchemy.orm import Session

from api import context, db, errors
from api.body_fields import UUID
from api.guard import public
from api.hooks.answers import acknowledged, kept
from api.hooks.bodies import parsed, taken
from api.hooks.chat_messages import Opened, is_for, is_signed, opened, outcome_key
from api.http import Blueprint
from api.models import Connection, Profile
from api.v1.events.ingest import accept, keep_refused
from api.warehouse_ids import uuid_v8
from api.writing import unkeyed
from connectors.chatapp import PROVIDER

bp = Blueprint("chat_hooks", __name__, description="What the chat app calls to say.")

CHANNEL, AD_PLATFORM = "chatapp", "meta"
_CHALLENGE = re.compile(r"[0-9A-Za-z_-]{1,128}")
_DESCRIBED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A delivery of the chat app, signed in the header X-Hub-Signature-256.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    },
    "responses": {
        200: kept("Kept; the same messages again change nothing."),
        400: {"description": "Signed, but no delivery."},
        401: {"description": "Not signed with the secret of this deployment's app."},
        404: {"description": "No such connection, or the connection of another business account."},
        413: {"description": "Larger than 4 MiB."},
        503: {"description": "This deployment has no secret of an app."},
    },
}
_PROVED: dict[str, Any] = {
    "responses": {
        200: {"description": "The challenge, as text.", "content": {"text/plain": {"schema": {"type": "string"}}}},
        401: {"description": "Another word than the one that this deployment agreed with the chat app."},
        404: {"description": "No such connection."},
        503: {"description": "This deployment agreed no word with the chat app."},
    }
}


@bp.route("/hooks/chat/<connection_id>")
@public
@bp.doc(**_PROVED)
def prove_chat_hook(connection_id: str) -> Response:
    """Prove to the chat app that this address is meant

    Gives back `hub.challenge` where `hub.verify_token` is the word that both sides agreed on.
    """
    settings = context.settings()
    if settings.chat_verify_token is None:
        raise errors.SERVICE_UNAVAILABLE(headers={"Retry-After": "3600"})
    agreed = settings.chat_verify_token.get_secret_value().encode()
    given, challenge = request.args.get("hub.verify_token", ""), request.args.get("hub.challenge", "")
    subscribes = request.args.get("hub.mode") == "subscribe" and _CHALLENGE.fullmatch(challenge)
    if not hmac.compare_digest(agreed, given.encode("utf-8", "replace")) or not subscribes:
        raise errors.UNAUTHORIZED()
    with db.transaction(settings.operational_url, durable=False) as session:
        _connection(session, connection_id)
    return Response(challenge, mimetype="text/plain")


@bp.route("/hooks/chat/<connection_id>", methods=["POST"])
@public
@unkeyed
@bp.doc(**_DESCRIBED)
def chat_hook(connection_id: str) -> Response:
    """Take a delivery of the chat app

    The signature is checked over the bytes as they came, before they are parsed. A message that an ad led to becomes a
    touch and the outcome dm_started, once; what people write is neither read nor kept.
    """
    settings = context.settings()
    if settings.meta_app_secret is None:
        raise errors.SERVICE_UNAVAILABLE(headers={"Retry-After": "3600"})
    body = taken()
    header = request.headers.get("X-Hub-Signature-256", "")
    if not is_signed(settings.meta_app_secret.get_secret_value(), header, body):
        raise errors.UNAUTHORIZED()
    with db.transaction(settings.operational_url) as session:
        connection = _connection(session, connection_id)
        try:
            delivery = parsed(body)
            if not is_for(delivery, connection.external_account_id):
                raise errors.NOT_FOUND()
            found = opened(delivery, connection.external_account_id, now=db.now())
        except ValueError:
            raise errors.INVALID_REQUEST("The body is not a delivery.", reason="malformed_json") from None
        if connection.status != "disconnected" and _lives(session, connection):
            _keep(session, connection, found)
    return acknowledged()


def _connection(session: Session, connection_id: str) -> Connection:
    chosen = sa.select(Connection).where(Connection.id == connection_id.lower(), Connection.provider == PROVIDER)
    found = session.scalars(chosen).one_or_none() if re.fullmatch(UUID, connection_id) else None
    if found is None:
        raise errors.NOT_FOUND()
    return found


def _lives(session: Session, connection: Connection) -> bool:
    return session.get_one(Profile, connection.profile_id).archived_at is None


def _keep(session: Session, connection: Connection, found: list[Opened]) -> None:
    profile_id, talks = connection.profile_id, [(one, _talk(connection, one)) for one in found]
    referrals = [{**talk, **_referral(connection, one)} for one, talk in talks]
    outcomes = [
        {
            **talk,
            "conversion_key": outcome_key(talk["conversation_id"]),
            "conversion_type": "dm_started",
            "source": "chat",
        }
        for _, talk in talks
    ]
    # what came before stays as it was: a delivery is repeated until it is answered
    for dataset, records in (("ad_referrals", referrals), ("conversions", outcomes)):
        rejected = accept(session, profile_id=profile_id, dataset=dataset, records=records).rejected
        # those of nobody are of somebody erased
        refused = [one for one in rejected if one.record.get("phone") or one.record.get("anonymous_id")]
        keep_refused(session, profile_id=profile_id, dataset=dataset, refused=refused)


def _talk(connection: Connection, one: Opened) -> dict[str, Any]:
    visit = f"{connection.id}:{one.click_id or one.message_id}"
    conversation = uuid_v8(connection.profile_id, "conversation", visit)
    return {"conversation_id": conversation, "occurred_at": one.at.isoformat(), **one.who}


def _referral(connection: Connection, one: Opened) -> dict[str, Any]:
    # the platform's ids of messages hold the sender's number, so they go no further than this
    referral = uuid_v8(connection.profile_id, "referral", f"{connection.id}:{one.message_id}")
    named = {"referral_id": referral, "channel": CHANNEL, "ad_platform": AD_PLATFORM, "ad_id": one.ad_id}
    return {**named, "seen_live": True, **({"click_id": one.click_id} if one.click_id else {})}
