"""/workspaces/{workspaceId}/members: the people of a workspace, as kept by the app that provisioned it."""

from __future__ import annotations

from typing import Any

from api import auth, context, db, errors
from api.audit import Attempt, record
from api.auth import Kind
from api.db import now
from api.guard import caller_guarded
from api.op_lists import ListQuery
from api.roles import ROLES
from api.v1.members import memberships, rows
from api.v1.members.routes import bp
from api.v1.members.schemas import Member, MemberBody, PutMember, RemovedMember
from api.v1.workspaces import creation
from api.writing import actor, idempotent, session


@bp.route("/workspaces/<workspace_id>/members")
@caller_guarded(kinds={Kind.APP}, uuids=["workspace_id"])
@bp.arguments(ListQuery, location="query")
@bp.response(200, Member(many=True))
def member_list(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """The people of a workspace that the app provisioned

    For the app that provisioned the workspace; for any other it is 404. Names are told of people without an account of
    their own, and of those who have come in. With `profile_id` only those who can open that profile.
    """
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        profile = auth.current().reach.profile
        return rows.page(unit, workspace_id, query, route="/members", profile=profile)


@bp.route("/workspaces/<workspace_id>/members", methods=["PUT"])
@caller_guarded(kinds={Kind.APP}, uuids=["workspace_id"])
@bp.arguments(MemberBody)
@idempotent()
@bp.response(201, PutMember)
@bp.alt_response(200, schema=PutMember, success=True)
def put_member(body: dict[str, Any], workspace_id: str) -> tuple[dict[str, Any], int]:
    """Add a person to a workspace that the app provisioned, or change what they may do

    Answers 201 for a new member and 200 for one there already. Nobody is sent any mail. What somebody may do here is
    open to them once they have proved their address, which they do by signing up or setting a new password.
    """
    app = auth.current().app
    assert app is not None, "only apps pass the guard"
    workspace = memberships.locked(session(), workspace_id)
    # who is a member already keeps what they sign in with: the app names nobody new
    membership = memberships.of_address(session(), workspace.id, body["email"])
    user_id = membership.user_id if membership else creation.person_of(session(), body, at=now()).id
    created, before = membership is None, membership and memberships.told(session(), membership)
    if membership is None:
        membership = memberships.add(
            session(),
            workspace=workspace,
            user_id=user_id,
            role=ROLES[body["role"]],
            permissions=body.get("permissions", []),
            profile_ids=body.get("profile_ids"),
        )
    else:
        memberships.change(session(), workspace=workspace, membership=membership, wanted=body, by=None)
    after = memberships.told(session(), membership)
    _record("member.added" if created else "member.changed", user_id, before=before, after=after)
    return {**rows.one(session(), membership), "created": created}, 201 if created else 200


@bp.route("/workspaces/<workspace_id>/members/<user_id>", methods=["DELETE"])
@caller_guarded(kinds={Kind.APP}, uuids=["workspace_id", "user_id"])
@idempotent()
@bp.response(200, RemovedMember)
def remove_member(workspace_id: str, user_id: str) -> dict[str, Any]:
    """Remove a person from a workspace that the app provisioned

    What they could open here is closed from the next request on. API keys belong to their profile and stay, which is
    why `keys_revoked` is 0. The last owner cannot be removed: 409 `invalid_state`/`last_owner`. Removed twice it is
    404.
    """
    workspace = memberships.locked(session(), workspace_id)
    membership = memberships.of_user(session(), workspace.id, user_id)
    if membership is None:
        raise errors.NOT_FOUND("There is no such member.")
    before = memberships.told(session(), membership)
    memberships.remove(session(), workspace=workspace, membership=membership, by=None)
    _record("member.removed", user_id, before=before)
    return {"user_id": user_id, "removed": True, "keys_revoked": 0}


def _record(action: str, user_id: str, **change: Any) -> None:
    target = {"kind": "member", "id": user_id, "label": None}
    record(session(), actor(), Attempt(action, {"target": target, **change}, category="members"))
