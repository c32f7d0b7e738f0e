"""POST /customers/link-tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api import audit, auth, context, db, errors, link_tokens, pii_log
from api.auth import Kind
from api.bodies import Email, Phone, Text
from api.customer_keys import customer_key, person_of
from api.customers import Directory, directory
from api.guard import guarded
from api.http import Blueprint
from api.reading import timestamp
from api.roles import Role
from api.scopes import Scope
from api.writing import actor, idempotent, session

bp = Blueprint("link_tokens", __name__, description="Tokens that make the follower of a link known.")

MOST = 500
KINDS = {"external_ref": "external_id", "email": "email", "phone": "phone"}


class Named(Schema):
    """One customer, named in one of four ways."""

    customer_key = Text(64, load_default=None, metadata={"description": "Key of the customer, `ck_…`."})
    external_ref = Text(128, load_default=None, metadata={"description": "Own id, as user_traits.external_id."})
    email = Email(load_default=None)
    phone = Phone(load_default=None, metadata={"description": "E.164."})

    @validates_schema
    def _in_one_way(self, data: Mapping[str, Any], **_: Any) -> None:
        if sum(value is not None for value in data.values()) != 1:
            raise ValidationError("needs exactly one of customer_key, external_ref, email, phone")


class LinkTokensBody(Schema):
    customers = fields.List(
        fields.Nested(Named),
        required=True,
        validate=validate.Length(1, MOST, error=f"must hold 1 to {MOST} customers"),
        metadata={"description": "One token is made for each, or none at all."},
    )
    ttl_days = fields.Integer(
        strict=True, load_default=30, validate=validate.Range(1, 90, error="must be from 1 to 90"),
        metadata={"description": "Days the tokens live."},
    )  # fmt: skip
    purpose = Text(60, load_default=None, metadata={"description": "For the audit trail."})


class LinkToken(Schema):
    index = fields.Integer(required=True, metadata={"description": "Place in the request, from 0."})
    customer_key = fields.String(required=True, metadata={"description": "Key of the customer, `ck_…`."})
    token = fields.String(
        required=True,
        metadata={"description": "What to put into a link as query_parameter; it names nobody to others."},
    )
    expires_at = fields.String(
        required=True, metadata={"format": "date-time", "description": "From when on it makes nobody known."}
    )


class LinkTokens(Schema):
    query_parameter = fields.String(required=True, metadata={"description": "Name of the token in a link."})
    tokens = fields.List(
        fields.Nested(LinkToken),
        required=True,
        metadata={"description": "One per customer of the request, in its order."},
    )


@bp.route("/customers/link-tokens", methods=["POST"])
@guarded(scope=Scope.EVENTS_WRITE, kinds={Kind.API_KEY, Kind.SESSION}, role=Role.ADMIN)
@bp.arguments(LinkTokensBody)
@idempotent()
@bp.response(201, LinkTokens)
def mint_link_tokens(body: dict[str, Any]) -> dict[str, Any]:
    """Mint tokens that make the follower of a link known

    For people of the published snapshot; all or nothing. A token holds a pseudonym and no personal data.
    """
    signer = link_tokens.serializer(context.settings())
    if signer is None:
        raise errors.LINK_TOKENS_DISABLED()
    profile_id = auth.current().profile.id
    with directory() as people:
        persons = _persons(people, profile_id, body["customers"])
    expires = (db.now() + timedelta(days=body["ttl_days"])).replace(microsecond=0)
    details = {"customers": len(persons), "ttl_days": body["ttl_days"], "purpose": body["purpose"]}
    audit.record(session(), actor(), audit.Attempt("link_tokens.minted", {"after": details}, "privacy"))
    pii_log.record(
        session(),
        principal=auth.current(),
        route="/customers/link-tokens",
        method="POST",
        profile_id=profile_id,
        subject="customer",
        customer_key=None,
        record_count=len(persons),
        pii_level="masked",
    )
    keys = [customer_key(context.settings(), profile_id, person) for person in persons]
    return {
        "query_parameter": link_tokens.QUERY_PARAMETER,
        "tokens": [_token(signer, profile_id, index, key, expires) for index, key in enumerate(keys)],
    }


def _token(signer: Any, profile_id: str, index: int, key: str, expires: datetime) -> dict[str, Any]:
    seconds = int(expires.astimezone(UTC).timestamp())
    token = link_tokens.mint(signer, profile_id=profile_id, customer_key=key, expires=seconds)
    return {"index": index, "customer_key": key, "token": token, "expires_at": timestamp(expires)}


def _persons(people: Directory, profile_id: str, customers: Sequence[Mapping[str, Any]]) -> list[str]:
    """The person of each customer, in order; refuses all when one is nobody."""
    named = [next((name, value) for name, value in one.items() if value is not None) for one in customers]
    found = people.people([(KINDS[name], value) for name, value in named if name in KINDS])
    claimed = {value: person_of(context.settings(), profile_id, value) for name, value in named if name not in KINDS}
    known = {*found.values(), *people.alive([person for person in claimed.values() if person])}
    known -= people.erased(session(), known)
    return [
        _person(index, name, claimed.get(value) if name not in KINDS else found.get((KINDS[name], value)), known)
        for index, (name, value) in enumerate(named)
    ]


def _person(index: int, name: str, person: str | None, known: set[str]) -> str:
    if person is None or person not in known:
        where = f"customers[{index}].{name}"
        if name == "customer_key":
            raise errors.CUSTOMER_NOT_IN_PROFILE(f"{where}: no customer of this profile.")
        if name == "external_ref":
            raise errors.UNKNOWN_CUSTOMER_REF(f"{where}: nobody has it.")
        raise errors.CUSTOMER_NOT_FOUND(f"{where}: nobody has it.")
    return person
