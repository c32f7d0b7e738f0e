"""POST /partner/audiences/customer-list."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from marshmallow import Schema, fields, validate
from sqlalchemy.orm import Session

from api import auth, connections, context, db, errors, idempotency, pii_log
from api.audit import Attempt, record, target
from api.auth import Kind
from api.bodies import NamesOne, Text
from api.body_fields import Uuid
from api.exports import audiences, gates, targets
from api.guard import MEBIBYTE, guarded
from api.http import Blueprint
from api.models import Connection, PartnerAudience, Profile
from api.models.entitlement import PARTNER_AUDIENCES
from api.scopes import Scope
from api.snapshot import snapshots
from api.v1.profiles import entitlements
from api.writing import actor, idempotent, session
from connectors.errors import ConnectorError, Refused
from connectors.meta_datasets import MOST_PEOPLE, MetaDatasets, Operation

bp = Blueprint("partner_audiences", __name__, description="Customer lists that partners keep at an ad platform.")

SECONDS = 25.0
OPERATIONS = ("replace", "add", "remove")
_DIGEST = validate.Regexp(r"^[0-9a-f]{64}\Z", error="must be SHA-256 in lower-case hexadecimal")
_SHAPE = {"pattern": "^[0-9a-f]{64}$"}


class ListedCustomer(NamesOne):
    """One customer, named in one of four ways."""

    customer_key = Text(64, metadata={"description": "Key of the customer, `ck_…`."})
    external_ref = Text(128, metadata={"description": "Own id of the customer, as user_traits.external_id."})
    email_sha256 = fields.String(
        validate=_DIGEST,
        metadata={**_SHAPE, "description": "SHA-256 of the e-mail address in lower case, hexadecimal."},
    )
    phone_sha256 = fields.String(
        validate=_DIGEST,
        metadata={**_SHAPE, "description": "SHA-256 of the digits of the number with its country code, hexadecimal."},
    )


class CustomerListBody(Schema):
    """A list and what to do with it; without `audience_id` a new one is made."""

    name = Text(
        80,
        required=True,
        metadata={"description": "What the list is called, here and at the platform when it is made."},
    )
    connection_id = Uuid(
        load_default=None,
        metadata={
            "description": "The ad account to make it in; when left out the one that a destination uses, or the"
            " only one."
        },
    )
    audience_id = Uuid(
        load_default=None, metadata={"description": "The list to change; a new one is made when left out."}
    )
    operation = fields.String(
        load_default="replace",
        validate=validate.OneOf(OPERATIONS),
        metadata={"description": "replace: the list becomes these customers; add and remove change it by them."},
    )
    customers = fields.List(
        fields.Nested(ListedCustomer),
        required=True,
        validate=validate.Length(1, MOST_PEOPLE, error="1 to 10000"),
        metadata={"description": "Whom to put on it or take off, each named in one way."},
    )


class CustomerListAnswer(Schema):
    """What became of the list, and of those who were to be on it."""

    audience_id = fields.UUID(
        required=True, metadata={"description": "The list, by our id: send it to change the list."}
    )
    platform_audience_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The list, by its platform's id; null while the platform has given none."},
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": ["queued", "ready", "failed"],
            "description": "ready: it is done. failed: nobody was left to replace the list by, and it stays as it was."
            " queued does not occur: the list is filled before the answer.",
        },
    )
    received = fields.Integer(required=True, metadata={"description": "Customers of the request."})
    accepted = fields.Integer(
        required=True, metadata={"description": "Of these, those that were sent; several may be one person."}
    )
    excluded = fields.Integer(
        required=True, metadata={"description": "Kept out of audiences, or refusing marketing; nobody when removing."}
    )
    unmatched = fields.Integer(required=True, metadata={"description": "Nobody here, or without e-mail and phone."})


@bp.route("/partner/audiences/customer-list", methods=["POST"])
@guarded(scope=Scope.EXPORTS_WRITE, kinds={Kind.API_KEY}, max_body=8 * MEBIBYTE)
@bp.arguments(CustomerListBody)
@idempotent()
@bp.response(202, CustomerListAnswer)
def keep_customer_list(body: dict[str, Any]) -> dict[str, Any]:
    """Keep a customer list at the ad platform

    Only people of the published snapshot are sent, as hashes, and none whom the profile keeps out of audiences. Its app
    must have switched the feature `partner_audiences` on. A request that broke after the platform had made its list
    left it without an answer: the next one of the same name within a day goes on with that list.
    """
    settings, profile_id = context.settings(), auth.current().profile.id
    with db.transaction(settings.operational_url, durable=False) as reading:
        profile = reading.get_one(Profile, profile_id)
        _refuse(reading, profile)
        kept = _kept(reading, profile_id, body["audience_id"])
        named = kept.connection_id if kept else body["connection_id"]
        connection = targets.connection_for(reading, profile, "website", named)
        kept_out = audiences.lists(reading, settings.signing_key(), profile_id)
    connections.usable(settings, [connection])
    with snapshots(settings).reader() as reader:
        removes = body["operation"] == "remove"
        chosen = audiences.choose(settings, reader, profile_id, kept_out, body["customers"], removes=removes)
    begun = None if kept else _taken_up(connection, body["name"])
    # an attempt that broke may have put people on it, whom nobody who makes a list asks to add to
    operation: Operation = "replace" if begun and body["operation"] == "add" else body["operation"]
    listed, is_sent = _sent(connection, kept or begun, body["name"], operation, chosen)
    counts = {
        "received": len(body["customers"]),
        "accepted": chosen.accepted,
        "excluded": chosen.excluded,
        "unmatched": chosen.unmatched,
    }
    answered = {"updated_at": db.now(), "name": body["name"], "held_until": None}
    session().execute(sa.update(PartnerAudience).where(PartnerAudience.id == listed.id).values(answered))
    _log(profile_id, len(body["customers"]))
    about = {"target": target("audience", listed.id, body["name"]), "after": {"operation": body["operation"], **counts}}
    attempt = Attempt("partner_audience.changed", about, category="exports")
    record(session(), actor(), attempt, outcome="done" if is_sent else "failed")
    return {
        "audience_id": listed.id,
        "platform_audience_id": listed.platform_audience_id,
        "status": "ready" if is_sent else "failed",
        **counts,
    }


def _refuse(reading: Session, profile: Profile) -> None:
    if not entitlements.has(reading, profile, PARTNER_AUDIENCES):
        if profile.privacy_mode == "platform_safe":
            raise errors.PLATFORM_SAFE_AUDIENCES_DISABLED()
        words = "The profile's app has not switched partner audiences on."
        raise errors.FORBIDDEN(words, reason="partner_audiences_not_enabled")
    if gates.law(gates.situation(reading, profile, db.now())) is not None:
        words = "An agreement that must be in force before anything is sent is not."
        raise errors.INVALID_STATE(words, reason="agreement_unsigned")


def _kept(reading: Session, profile_id: str, audience_id: str | None) -> PartnerAudience | None:
    if audience_id is None:
        return None
    mine = sa.select(PartnerAudience).where(PartnerAudience.id == audience_id, PartnerAudience.profile_id == profile_id)
    found = reading.scalars(mine).one_or_none()
    if found is None:
        raise errors.NOT_FOUND("The profile has no such audience.")
    if reading.get_one(Connection, found.connection_id).status == "disconnected":
        raise errors.PLATFORM_CONNECTION_REQUIRED("The account that has this audience was disconnected.")
    return found


def _taken_up(connection: Connection, name: str) -> PartnerAudience | None:
    """The list of this name that was lately made there, and whose caller was told of a failure and no id; now held."""
    at = db.now()
    left = sa.select(PartnerAudience).where(
        PartnerAudience.connection_id == connection.id,
        PartnerAudience.name == name,
        PartnerAudience.held_until <= at,
        PartnerAudience.created_at > at - idempotency.KEPT,
    )
    left = left.order_by(PartnerAudience.created_at.desc(), PartnerAudience.id).limit(1).with_for_update()
    with db.transaction(context.settings().operational_url) as unit:
        found = unit.scalars(left).first()
        if found is not None:
            found.held_until = at + idempotency.ABANDONED
    return found


def _let_go(listed: PartnerAudience) -> None:
    """Leave a list of which no request was answered to the next that asks for one of its name."""
    held = sa.update(PartnerAudience).where(PartnerAudience.id == listed.id, PartnerAudience.held_until.is_not(None))
    with db.transaction(context.settings().operational_url) as unit:
        unit.execute(held.values(held_until=db.now()))


def _sent(
    connection: Connection, kept: PartnerAudience | None, name: str, operation: Operation, chosen: audiences.Chosen
) -> tuple[PartnerAudience, bool]:
    """The list, made where it is new, and whether it now holds what was asked; a platform empties no list."""
    settings = context.settings()
    with connections.asking(settings, connection, within=SECONDS, writes=True) as transport:
        account, secret = connection.external_account_id, connections.app_secret(settings, connection)
        platform = MetaDatasets(connection.base_url, connection.token, account, transport, app_secret=secret)
        try:
            listed = kept or _made(connection, name, platform.make_list(name))
            if chosen.people:
                _fill(platform, listed, chosen, operation)
        except Refused as refused:
            if refused.reason == "terms_not_accepted":
                raise errors.AUDIENCE_TOS_REQUIRED() from refused
            raise
    return listed, bool(chosen.people) or kept is None or operation != "replace"


def _fill(platform: MetaDatasets, listed: PartnerAudience, chosen: audiences.Chosen, operation: Operation) -> None:
    try:
        platform.change_list(listed.platform_audience_id, chosen.people, operation)
    except ConnectorError:
        _let_go(listed)
        raise


def _made(connection: Connection, name: str, platform_id: str) -> PartnerAudience:
    # kept at once: the list is there, whatever becomes of those who shall be on it
    with db.transaction(context.settings().operational_url) as unit:
        made = PartnerAudience(profile_id=connection.profile_id, connection_id=connection.id, name=name)
        made.platform_audience_id = platform_id
        made.created_at = made.updated_at = db.now()
        made.held_until = made.created_at + idempotency.ABANDONED
        unit.add(made)
    return made


def _log(profile_id: str, count: int) -> None:
    pii_log.record(
        session(),
        principal=auth.current(),
        route="/partner/audiences/customer-list",
        method="POST",
        profile_id=profile_id,
        subject="list",
        customer_key=None,
        record_count=count,
        pii_level="masked",
    )
