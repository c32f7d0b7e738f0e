"""Invitations to a workspace or to one of its profiles, and accepting one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from api import auth, context, db, mail, op_lists
from api.actors import told
from api.audit import record
from api.guard import caller_guarded, workspace_guarded
from api.models import Invitation, User
from api.op_lists import By
from api.provisioned import refuse_provisioned
from api.roles import ROLES, Role
from api.scopes import Scope
from api.v1.members import invitations, letter, places
from api.v1.members.invitation_schemas import (
    AcceptBody,
    Accepted,
    InvitationBody,
    InvitationQuery,
    InvitationShape,
    NewInvitation,
    ProfileInvitationBody,
)
from api.v1.members.invitations import Wanted
from api.v1.members.routes import bp
from api.writing import actor, idempotent, session

_ORDER = (
    By(Invitation.created_at.expression, lambda row: row.created_at, descending=True),
    By(Invitation.id.expression, lambda row: row.id),
)


@bp.route("/workspaces/<workspace_id>/invitations")
@workspace_guarded(role=Role.ADMIN)
@bp.arguments(InvitationQuery, location="query")
@bp.response(200, InvitationShape(many=True))
def invitation_list(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """Invitations to a workspace and its profiles, newest first

    Without their links, which only the making of one tells. Those that nobody answered within 14 days count as revoked,
    with the reason expired. `status` is pending when left out.
    """
    profile = auth.current().reach.profile
    return _page(query, workspace_id, profile.id if profile else None, route="/invitations")


@bp.route("/workspaces/<workspace_id>/invitations", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@refuse_provisioned
@bp.arguments(InvitationBody)
@idempotent(once_shown=["accept_url"])
@bp.response(201, NewInvitation)
def create_invitation(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Invite somebody to a workspace

    The answer holds the link to the invitation, once: where no mail is configured, hand it over yourself. Whoever
    accepts must be signed in under the invited address, within 14 days.
    """
    wanted = Wanted(body["email"], ROLES[body["role"]], body["permissions"], body.get("profile_ids"))
    return _create(workspace_id, replace(wanted, message=body["message"] or None))


@bp.route("/workspaces/<workspace_id>/invitations/<invitation_id>", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["invitation_id"])
@idempotent()
@bp.response(200, InvitationShape)
def revoke_invitation(workspace_id: str, invitation_id: str) -> dict[str, Any]:
    """Take back an invitation to a workspace or to one of its profiles

    Its link opens nothing from now on. One that was accepted, revoked or ran out is 409 `invalid_state`: whoever is a
    member already is removed as one. Nobody takes back an invitation to a role above their own.
    """
    return _revoke(workspace_id, None, invitation_id)


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/invitations")
@workspace_guarded(role=Role.ADMIN, uuids=["profile_id"])
@bp.arguments(InvitationQuery, location="query")
@bp.response(200, InvitationShape(many=True))
def profile_invitation_list(query: dict[str, Any], workspace_id: str, profile_id: str) -> list[dict[str, Any]]:
    """Invitations to a profile, newest first

    As those of the workspace, of this profile alone; invitations to the whole workspace are not among them.
    """
    return _page(query, workspace_id, profile_id, route="/profiles/invitations")


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/invitations", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["profile_id"])
@refuse_provisioned
@bp.arguments(ProfileInvitationBody)
@idempotent(once_shown=["accept_url"])
@bp.response(201, NewInvitation)
def create_profile_invitation(body: dict[str, Any], workspace_id: str, **_: str) -> dict[str, Any]:
    """Invite somebody to one profile

    They become a guest of the workspace, with this role on this profile alone.
    """
    wanted = Wanted(body["email"], ROLES[body["role"]], body["permissions"], profile=auth.current().profile)
    return _create(workspace_id, replace(wanted, message=body["message"] or None))


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/invitations/<invitation_id>", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, uuids=["profile_id", "invitation_id"])
@idempotent()
@bp.response(200, InvitationShape)
def revoke_profile_invitation(workspace_id: str, profile_id: str, invitation_id: str) -> dict[str, Any]:
    """Take back an invitation to a profile

    As of the workspace's; one to the whole workspace or to another profile is 404 here.
    """
    return _revoke(workspace_id, profile_id, invitation_id)


@bp.route("/invitations/accept", methods=["POST"])
@caller_guarded(scope=Scope.WORKSPACES_WRITE)
@bp.arguments(AcceptBody)
@idempotent()
@bp.response(200, Accepted)
def accept_invitation(body: dict[str, Any]) -> dict[str, Any]:
    """Accept an invitation to a workspace or a profile

    The code of the invitation's mail also confirms the address; that of `accept_url` does not.
    """
    invitation, workspace, membership = invitations.accept(
        session(), user_id=auth.current().person, token=body["token"], key=context.settings().signing_key()
    )
    within = replace(actor(), workspace_id=workspace.id, profile_id=invitation.profile_id)
    record(session(), within, invitations.attempt("invitation.accepted", invitation))
    named = invitations.profiles_of(invitation)
    context.meta(workspace_id=workspace.id)
    return {
        "workspace_id": workspace.id,
        "workspace_name": workspace.name,
        "profile_ids": None if named is None else places.live(session(), workspace.id, named),
        "role": invitation.role,
        "membership_id": membership.id,
        "accepted_at": invitation.accepted_at,
    }


def _page(query: dict[str, Any], workspace_id: str, profile_id: str | None, *, route: str) -> list[dict[str, Any]]:
    chosen = sa.select(Invitation).where(Invitation.workspace_id == workspace_id)
    if profile_id is not None:
        chosen = chosen.where(Invitation.profile_id == profile_id)
    if query["status"] != "all":
        chosen = chosen.where(invitations.with_status(query["status"], db.now()))
    filters = {"status": query["status"], "profile_id": profile_id}
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        rows = op_lists.page(unit, chosen, _ORDER, query, route=route, owner=workspace_id, filters=filters)
        names = told(unit, [(row.invited_by_kind, row.invited_by_id) for row in rows])
    return [invitations.row(row, names[row.invited_by_kind, row.invited_by_id]) for row in rows]


def _create(workspace_id: str, wanted: Wanted) -> dict[str, Any]:
    by = auth.current()
    invitation, token = invitations.create(
        session(), workspace_id=workspace_id, wanted=wanted, by=by.person, actor=actor()
    )
    invitations.spend(session(), by.person)
    settings = context.settings()
    sender, in_mail = session().get_one(User, by.person), invitations.mailed(token, settings.signing_key())
    url = invitations.url_of(settings.base_url, in_mail)
    written = letter.write(invitation=invitation, workspace=by.workspace, sender=sender, url=url)
    status = mail.queue(
        session(),
        workspace_id=workspace_id,
        to=invitation.email,
        kind="invitation",
        subject=written.subject,
        text=written.text,
        html=written.html,
        token_digest=invitation.digest,
    )
    record(session(), actor(), invitations.attempt("invitation.created", invitation))
    return {**_row(invitation), "accept_url": invitations.url_of(settings.base_url, token), "email_status": status}


def _revoke(workspace_id: str, profile_id: str | None, invitation_id: str) -> dict[str, Any]:
    invitation = invitations.revoke(
        session(),
        workspace_id=workspace_id,
        profile_id=profile_id,
        invitation_id=invitation_id,
        by=auth.current().person,
    )
    record(session(), actor(), invitations.attempt("invitation.revoked", invitation))
    return _row(invitation)


def _row(invitation: Invitation) -> dict[str, Any]:
    who = (invitation.invited_by_kind, invitation.invited_by_id)
    return invitations.row(invitation, told(session(), [who])[who])
