"""POST /customers/erasures, its receipt, and POST /workspaces/{workspaceId}/customer-erasures: to be forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from api import auth, context, db, errors, reach
from api.audit import Attempt, record, target
from api.guard import partner_only, workspace_guarded
from api.http import Blueprint
from api.models import Erasure, Profile
from api.roles import Role
from api.scopes import Scope
from api.v1.customers import erasing
from api.v1.customers.erasure_schemas import ErasureBody, Receipt, WorkspaceErasureBody, WorkspaceErasures
from api.writing import actor, idempotent, session

bp = Blueprint("erasures", __name__, description="People taken out of everything that was kept of them.")


@bp.route("/customers/erasures", methods=["POST"])
@partner_only()
@bp.arguments(ErasureBody)
@idempotent()
@bp.response(202, Receipt)
def erase_customer(body: dict[str, Any]) -> dict[str, Any]:
    """Erase a customer

    Names, addresses, ids, click ids and free text go at once from what waits here, and with the next build from every
    file, snapshot and copy. Anonymous touches, conversions and amounts stay, so no figure moves. The identifiers are
    refused from now on, by keyed hash.
    """
    erasure = _erased(auth.current().profile.id, body)
    if erasure is None:
        raise errors.CUSTOMER_NOT_FOUND()
    return erasing.receipt(erasure)


@bp.route("/customers/erasures/<erasure_id>")
@partner_only(uuids=["erasure_id"], people=Role.ADMIN)
@bp.response(200, Receipt)
def erasure_receipt(erasure_id: str) -> dict[str, Any]:
    """How far an erasure is

    Ends as completed with the first snapshot that is served without the person; `customer.erased` tells it. One that
    failed goes on with the next build, so there is nothing to send again. Open to keys of apps and to people from the
    role admin on; an unknown one, and one of another profile, is 404 `erasure_not_found`.
    """
    chosen = sa.select(Erasure).where(Erasure.id == erasure_id, Erasure.profile_id == auth.current().profile.id)
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        erasure = unit.scalars(chosen).one_or_none()
    if erasure is None:
        raise errors.ERASURE_NOT_FOUND()
    return erasing.receipt(erasure)


@bp.route("/workspaces/<workspace_id>/customer-erasures", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(WorkspaceErasureBody)
@idempotent()
@bp.response(202, WorkspaceErasures)
def erase_customer_of_a_workspace(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Erase a customer from one profile of a workspace, or from all that know the person

    As POST /customers/erasures. Without `profile_id` the person is sought in every profile, by e-mail address or phone
    number: other names mean a person of one profile only. A `profile_id` of the query counts as the body's.
    """
    erased = [(one, _erased(one, body)) for one in _profiles(body, workspace_id)]
    found = [{**erasing.receipt(erasure), "profile_id": one} for one, erasure in erased if erasure is not None]
    if not found:
        raise errors.CUSTOMER_NOT_FOUND()
    return {"erasures": found}


def _erased(profile_id: str, body: dict[str, Any]) -> Erasure | None:
    erasure = erasing.begin(session(), context.settings(), profile_id=profile_id, asked=body)
    if erasure is not None:
        by = replace(actor(), profile_id=profile_id)
        record(session(), by, Attempt("customer.erased", {"target": target("erasure", erasure.id)}, "privacy"))
    return erasure


def _profiles(body: dict[str, Any], workspace_id: str) -> list[str]:
    person, in_query = auth.current().person, auth.current().reach.profile
    named = body["profile_id"] or (in_query.id if in_query else None)
    if in_query and named != in_query.id:
        raise errors.INVALID_PARAMETER("profile_id is one in the query and another in the body.")
    if named is not None:
        found = reach.of_person(session(), person, workspace_id=workspace_id, profile_id=named)
        return [found.profile.id] if found.profile else []
    live = reach.profiles_of(person).where(Profile.workspace_id == workspace_id).order_by(Profile.name, Profile.id)
    return [profile.id for profile in session().scalars(live)]
