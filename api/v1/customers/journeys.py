"""GET /customers/journey: a person's conversions and touches, projected to what marketing may know."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import Schema, ValidationError, fields

from api import auth, context, customer_keys, customers, db, errors, pagination, responses
from api.fields import Int
from api.guard import guarded
from api.http import Blueprint
from api.pagination import CursorQuery
from api.reading import Source, published
from api.scopes import Scope
from api.v1.conversions import rows
from api.v1.conversions.schemas import Conversion, Touch
from api.v1.customers import journey_queries as queries
from api.warehouse_ids import identifier_id
from data_contracts.normal_form import nfc

bp = Blueprint("journeys", __name__, description="What a customer did before and after converting, without a person.")

EXTERNAL = "ext:"
_EXTERNAL_ID = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,128}")


class CustomerKey(fields.String):
    """`ck_...` as handed out by this API, or `ext:` and the external id the caller gave the person."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = nfc(str(value)).strip()
        external = EXTERNAL + text.removeprefix(EXTERNAL).strip()
        if text.startswith(EXTERNAL) and _EXTERNAL_ID.fullmatch(external.removeprefix(EXTERNAL)):
            return external
        if not customer_keys.FORM.fullmatch(text):
            raise ValidationError("must be a key ck_... or ext: and an external id of at most 128 characters")
        return text


class JourneyQuery(CursorQuery):
    customer_key = CustomerKey(
        required=True,
        metadata={
            "pattern": f"^({customer_keys.FORM.pattern}|{EXTERNAL}{_EXTERNAL_ID.pattern})$",
            "description": "`ck_...`, or `ext:<external_id>`.",
        },
    )
    limit = Int(1, 500, load_default=100, metadata={"description": "Touches per page."})


class CustomerJourney(Schema):
    has_paged_part = True

    conversions = fields.List(
        fields.Nested(Conversion), required=True, metadata={"description": "At most the 100 newest, newest first."}
    )
    touches = fields.List(fields.Nested(Touch), required=True, metadata={"description": "In order of time, paged."})
    conversions_total = fields.Integer(
        required=True, metadata={"description": "All conversions of the customer, also those that are not listed."}
    )


@bp.route("/customers/journey")
@guarded(scope=Scope.CONVERSIONS_READ, units=3)
@bp.arguments(JourneyQuery, location="query")
@responses.tagged
@bp.response(200, CustomerJourney)
def customer_journey(query: dict[str, Any]) -> dict[str, Any]:
    """The marketing path and the conversions of one customer

    Touches carry no credit, since credit belongs to a conversion. The key of a customer who was merged into another
    leads to that other one. No person and no page is told.
    """
    listing = pagination.Listing(
        "/customers/journey", auth.current().profile.id, {"customer_key": query["customer_key"]}
    )
    resume = pagination.read(_key(), listing, query["cursor"]) if query["cursor"] is not None else None
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        erased = customers.erasures_told(unit)
    with published("/customers/journey", {**query, "erased": erased}, resume=resume) as source:
        person = _person(source, query["customer_key"]) if source else None
        if source is None or person is None or _is_erased(source, person):
            raise errors.CUSTOMER_NOT_FOUND()
        touches = _touches(source, person, query["limit"], listing, resume)
        found, total = queries.conversions(source.reader, source.profile, person)
        return {
            "conversions": [rows.conversion(row, source.profile) for row in found],
            "touches": touches,
            "conversions_total": total,
        }


def _person(source: Source, key: str) -> int | None:
    profile_id = auth.current().profile.id
    if key.startswith(EXTERNAL):
        known = identifier_id(profile_id, "external_id", key.removeprefix(EXTERNAL))
        return queries.person_of_identifier(source.reader, source.profile, known)
    alias = customer_keys.person_of(context.settings(), profile_id, key)
    return queries.person_of_alias(source.reader, source.profile, alias) if alias else None


def _is_erased(source: Source, person: int) -> bool:
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        return bool(customers.erased_since(unit, source.reader, source.profile, [person]))


def _touches(
    source: Source, person: int, limit: int, listing: pagination.Listing, resume: pagination.Place | None
) -> list[dict[str, Any]]:
    after = int(resume.position[0]) if resume else 0
    found = queries.touches(source.reader, source.profile, person, after=after, most=limit + 1)
    page, cursor = found[:limit], None
    if len(found) > limit:
        cursor = pagination.issue(_key(), listing, [page[-1]["position"]], source.reader.snapshot_id)
    context.paginate(cursor=cursor, has_next=cursor is not None)
    return [rows.touch(row, position=row["position"]) for row in page]


def _key() -> bytes:
    return context.settings().signing_key()
