"""People, let into a workspace by whoever operates the deployment."""

from __future__ import annotations

from typing import Any

import click

from api.app import create_app
from api.audit import Actor, record
from api.db import transaction
from api.errors import ApiError
from api.models import Workspace
from api.roles import ROLES
from api.v1.members import invitations
from data_contracts.formats import Refused, email
from touchledger.accounts import own_workspace, unknown
from touchledger.settings import Settings


def invite(settings: Settings, *, address: str, role: str, workspace_id: str | None) -> dict[str, Any]:
    """An open invitation: {invitation_id, workspace_id, workspace, email, role, accept_url, expires_at}.

    Of the deployment's own workspace where none is named. It takes the place of an open one, whose link was told once.
    Nobody is written a mail. Raises BadParameter for what is no address and an unknown or archived workspace;
    ClickException for a member, a plan without room, and a workspace that an app made for its users.
    """
    try:
        wanted = invitations.Wanted(email(address), ROLES[role], [])
    except Refused as refused:
        raise click.BadParameter(str(refused), param_hint="EMAIL") from None
    # the plan's room is asked for where the API asks for it
    with create_app(settings).app_context(), transaction(settings.operational_url) as session:
        workspace = session.get(Workspace, workspace_id) if workspace_id else own_workspace(session)
        if workspace is None or workspace.archived_at is not None:
            raise unknown("workspace", str(workspace_id), "--workspace")
        if workspace.is_provisioned:
            raise click.ClickException("an app made this workspace for its users, and alone lets them in")
        actor = Actor("system", None, workspace.id)
        try:
            for open_one in invitations.open_to(session, workspace.id, wanted.email):
                gone = invitations.revoke(
                    session, workspace_id=workspace.id, profile_id=None, invitation_id=open_one, by=None
                )
                record(session, actor, invitations.attempt("invitation.revoked", gone))
            made, token = invitations.create(session, workspace_id=workspace.id, wanted=wanted, by=None, actor=actor)
        except ApiError as refusal:
            raise click.ClickException(refusal.message) from None
        record(session, actor, invitations.attempt("invitation.created", made))
        return {
            "invitation_id": made.id,
            "workspace_id": workspace.id,
            "workspace": workspace.name,
            "email": made.email,
            "role": made.role,
            "accept_url": invitations.url_of(settings.base_url, token),
            "expires_at": made.expires_at,
        }
