"""PUT /profiles/{profile_id}/audience-exclusions."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from api import auth, errors, pii_log
from api.audit import Attempt, record
from api.customers import directory
from api.guard import guarded
from api.http import Blueprint
from api.models import Profile
from api.roles import Role
from api.scopes import Scope
from api.v1.customers.selectors import Selector
from api.v1.profiles import excluded
from api.writing import actor, idempotent, session

MOST = 10_000

bp = Blueprint("audience_exclusions", __name__, description="Customers kept out of every audience.")


class ExclusionsBody(ma.Schema):
    """The whole list: it replaces the one before."""

    customers = fields.List(
        fields.Nested(Selector),
        required=True,
        validate=validate.Length(max=MOST, error=f"holds more than {MOST} customers"),
        metadata={"description": "The whole list; empty: nobody is kept out."},
    )


class ExclusionsAnswer(ma.Schema):
    """The list as it now is, and how it changed."""

    profile_id = fields.UUID(required=True)
    excluded_count = fields.Integer(required=True, metadata={"description": "A customer named twice counts once."})
    added = fields.Integer(required=True, metadata={"description": "Customers that were not on the list before."})
    removed = fields.Integer(required=True, metadata={"description": "Customers that are on the list no more."})
    audiences_updated = fields.Integer(
        required=True,
        metadata={
            "description": "Always 0: the next replacement of a customer list leaves them out, nothing does before."
        },
    )


@bp.route("/profiles/<profile_id>/audience-exclusions", methods=["PUT"])
@guarded(scope=Scope.EXPORTS_WRITE, role=Role.EDITOR, uuids=["profile_id"])
@bp.arguments(ExclusionsBody)
@idempotent()
@bp.response(200, ExclusionsAnswer)
def replace_audience_exclusions(body: dict[str, Any], profile_id: str) -> dict[str, Any]:
    """Keep customers out of every audience

    Only keyed hashes are kept. E-mail addresses and phone numbers of nobody yet count as soon as somebody has them.
    Nothing changes unless every customer is known.
    """
    profile = session().get_one(Profile, profile_id, with_for_update={"key_share": True})
    if profile.archived_at is not None:
        raise errors.NOT_FOUND()
    customers = body["customers"]
    with directory() as known:
        change = excluded.replace(session(), profile_id, excluded.named(session(), known, profile_id, customers))
    if customers:
        pii_log.record(
            session(),
            principal=auth.current(),
            route="/profiles/{profileId}/audience-exclusions",
            method="PUT",
            profile_id=profile_id,
            subject="list",
            customer_key=None,
            record_count=len(customers),
            pii_level="full",
        )
    details = {
        "target": {"kind": "profile", "id": profile.id, "label": profile.name},
        "after": {"excluded": change.excluded, "added": change.added, "removed": change.removed},
    }
    record(session(), actor(), Attempt("audience_exclusions.replaced", details, category="exports"))
    return {
        "profile_id": profile_id,
        "excluded_count": change.excluded,
        "added": change.added,
        "removed": change.removed,
        "audiences_updated": 0,
    }
