"""Where a person's new profile goes: the workspace they name, or the only one they belong to."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors, reach
from api.auth import Principal
from api.models import Profile, Workspace
from api.roles import ROLES, Role


def workspace_of(session: Session, caller: Principal, named: str | None) -> Workspace:
    """The workspace to create in, of which the person is at least an admin.

    `named` is the body's; the query's is in `caller.reach`. 400 workspace_id_required when neither says which of
    several, 400 when they differ, 404 for a workspace the person does not belong to, 403 role_required below admin.
    """
    in_query = caller.reach.workspace.id if caller.reach.workspace else None
    if named and in_query and named != in_query:
        raise errors.INVALID_PARAMETER("workspace_id is one in the query and another in the body.")
    rows = session.execute(reach.workspaces_of(caller.person)).all()
    wanted = named or in_query
    if wanted is None and len(rows) != 1:
        text = "You belong to several workspaces: name one." if rows else "You belong to no workspace yet: create one."
        raise errors.INVALID_REQUEST(text, reason="workspace_id_required")
    row = next((row for row in rows if wanted in {None, row.Workspace.id}), None)
    if row is None:
        raise errors.NOT_FOUND()
    role = ROLES[row.Membership.role]
    if role < Role.ADMIN:
        raise errors.FORBIDDEN(f"This needs the role admin; yours is {role.word}.", reason="role_required")
    return row.Workspace  # type: ignore[no-any-return]


def refuse_same_name(session: Session, workspace_id: str, name: str, *, but: str | None = None) -> None:
    """409 duplicate_name when an active profile of the workspace has the name, in any case; `but` is left aside.

    Exact only while the workspace's row is locked, as `plans.require_profile_room` leaves it.
    """
    chosen = sa.select(Profile.id, Profile.name).where(
        Profile.workspace_id == workspace_id, Profile.archived_at.is_(None), Profile.id != (but or "")
    )
    # case is folded here: databases fold other letters than ours, or none beyond ASCII
    if any(row.name.casefold() == name.casefold() for row in session.execute(chosen)):
        raise errors.INVALID_STATE("An active profile of this workspace has that name.", reason="duplicate_name")


def refuse_archived(session: Session, workspace: Workspace) -> None:
    """404 not_found when the workspace, locked by now, was archived since it was found."""
    session.refresh(workspace, ["archived_at"])
    if workspace.archived_at is not None:
        raise errors.NOT_FOUND()
