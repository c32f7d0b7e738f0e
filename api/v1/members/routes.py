"""/workspaces/{workspaceId}/memberships, and the people of a profile: for signed-in people and their agents."""

from __future__ import annotations

from typing import Any

from api import auth, context, db, errors
from api.audit import Attempt, record
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import Membership, ProfileMembership, Workspace
from api.op_lists import ListQuery
from api.roles import ROLES, Role
from api.scopes import Scope
from api.v1.members import memberships, places, rows
from api.v1.members.schemas import Member, MembershipBody, PlaceBody, ProfileMember, ProfilePlace, Removed
from api.writing import actor, idempotent, session

bp = Blueprint("members", __name__, description="People of workspaces and profiles, and invitations to them.")


@bp.route("/workspaces/<workspace_id>/memberships")
@workspace_guarded(role=Role.ADMIN)
@bp.arguments(ListQuery, location="query")
@bp.response(200, Member(many=True))
def membership_list(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """The people of a workspace

    In the order they came, with addresses, so from the role admin on. Who is invited and has not accepted is in GET
    /workspaces/{workspace_id}/invitations. With `profile_id` those who can open that profile. Where an app adds the
    people, somebody with an account of their own is told by name once they have come in.
    """
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        return rows.page(unit, workspace_id, query, route="/memberships", profile=auth.current().reach.profile)


@bp.route("/workspaces/<workspace_id>/memberships/<membership_id>", methods=["PATCH"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["membership_id"])
@bp.arguments(MembershipBody)
@idempotent()
@bp.response(200, Member)
def change_membership(body: dict[str, Any], workspace_id: str, membership_id: str) -> dict[str, Any]:
    """Change a person's role, permissions or, for a guest, profiles

    Nobody gives or changes a role above their own, and a workspace keeps at least one owner.
    """
    workspace = memberships.locked(session(), workspace_id)
    by = _acting(workspace)
    membership = memberships.find(session(), workspace_id, membership_id)
    before = memberships.told(session(), membership)
    memberships.change(session(), workspace=workspace, membership=membership, wanted=body, by=by)
    _record("member.changed", membership, before=before, after=memberships.told(session(), membership))
    return rows.one(session(), membership)


@bp.route("/workspaces/<workspace_id>/memberships/<membership_id>", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, uuids=["membership_id"])
@idempotent()
@bp.response(200, Removed)
def remove_membership(workspace_id: str, membership_id: str) -> dict[str, Any]:
    """Remove a person from a workspace, or leave it

    Everybody may remove themselves, admins everybody up to their own role. What the person's tokens opened here is
    closed at once; API keys belong to their profile and stay.
    """
    workspace = memberships.locked(session(), workspace_id)
    by = _acting(workspace, on=membership_id)
    membership = memberships.find(session(), workspace_id, membership_id)
    before = memberships.told(session(), membership)
    memberships.remove(session(), workspace=workspace, membership=membership, by=by)
    _record("member.removed", membership, before=before)
    return {"membership_id": membership_id, "removed": True}


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/members")
@workspace_guarded(role=Role.ADMIN, uuids=["profile_id"])
@bp.arguments(ListQuery, location="query")
@bp.response(200, ProfileMember(many=True))
def profile_member_list(query: dict[str, Any], **_: str) -> list[dict[str, Any]]:
    """The people who can open a profile

    Those whose role opens every profile of the workspace (`inherited`), and guests with a place on this one. Only the
    place of a guest is changed here; a role of the workspace is changed by PATCH
    /workspaces/{workspace_id}/memberships/{membership_id}.
    """
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        return rows.page_of_profile(unit, auth.current().profile, query, route="/profiles/members")


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/members/<membership_id>", methods=["PATCH"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["profile_id", "membership_id"])
@bp.arguments(PlaceBody)
@idempotent()
@bp.response(200, ProfilePlace)
def change_profile_member(
    body: dict[str, Any], workspace_id: str, profile_id: str, membership_id: str
) -> dict[str, Any]:
    """Change what a guest may do on one profile

    In force from their next request on, for their tokens too. For anybody else it is 409
    `invalid_state`/`inherited_membership`: their role of the workspace opens every profile. Members left out keep their
    values.
    """
    _acting(memberships.locked(session(), workspace_id))
    membership, place = _placed(workspace_id, profile_id, membership_id)
    before = {"role": place.role, "permissions": place.permissions}
    place.role = body.get("role", place.role)
    place.permissions = body.get("permissions", place.permissions)
    _record("member.changed", membership, before=before, after={"role": place.role, "permissions": place.permissions})
    return rows.place(place, membership)


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/members/<membership_id>", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["profile_id", "membership_id"])
@idempotent()
@bp.response(200, Removed)
def remove_profile_member(workspace_id: str, profile_id: str, membership_id: str) -> dict[str, Any]:
    """Take a profile from a guest

    A guest who is left without any profile is removed from the workspace too.
    """
    workspace = memberships.locked(session(), workspace_id)
    by = _acting(workspace)
    membership, place = _placed(workspace_id, profile_id, membership_id)
    before = {"role": place.role, "permissions": place.permissions}
    session().delete(place)
    session().flush()
    if not places.any_of(session(), membership.id):
        memberships.remove(session(), workspace=workspace, membership=membership, by=by)
    _record("member.removed", membership, before=before)
    return {"membership_id": membership_id, "removed": True}


def _placed(workspace_id: str, profile_id: str, membership_id: str) -> tuple[Membership, ProfileMembership]:
    membership = memberships.find(session(), workspace_id, membership_id)
    if ROLES[membership.role] is not Role.GUEST:
        raise errors.INVALID_STATE(
            "Their workspace role opens every profile; change the membership of the workspace instead.",
            reason="inherited_membership",
        )
    place = places.on(session(), membership_id, profile_id)
    if place is None:
        raise errors.NOT_FOUND("There is no such member.")
    return membership, place


def _acting(workspace: Workspace, *, on: str | None = None) -> Role:
    return memberships.acting(session(), workspace, auth.current().person, on=on)


def _record(action: str, membership: Membership, **change: Any) -> None:
    target = {"kind": "member", "id": membership.user_id, "label": None}
    record(session(), actor(), Attempt(action, {"target": target, **change}, category="members"))
