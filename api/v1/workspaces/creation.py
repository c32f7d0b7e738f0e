"""New workspaces: a person's own, and one that an app makes for one of its users."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api import sign_in, unproven
from api.models import App, Membership, User, Workspace
from api.models.workspace import PROVISIONED
from api.reach import workspaces_of
from api.roles import Role
from api.subscriptions import begin_trial

# asked for again within it, the same name of the same person is the same workspace
REPEAT_WINDOW = timedelta(minutes=10)


def own(
    session: Session, *, workspace_id: str, user_id: str, by_agent: bool, body: dict[str, Any], at: datetime
) -> tuple[Workspace, bool]:
    """The person's workspace of that name, and whether it was made just now; a new one gets `workspace_id`."""
    # whoever asks at the same moment waits here, and then finds this one
    session.scalar(sa.select(User.id).where(User.id == user_id).with_for_update(key_share=True))
    earlier = just_made(session, user_id, body["name"], at)
    if earlier is not None:
        return earlier, False
    made = Workspace(
        id=workspace_id,
        name=body["name"],
        timezone=body["timezone"],
        reporting_currency=body["currency"],
        acquisition_source="agent" if by_agent else "direct",
        mcp_writeback_enabled=by_agent,
    )
    _owned(session, made, user_id, at)
    begin_trial(session, workspace=made, plan=body["plan"])
    return made, True


def provisioned(session: Session, *, app: App, body: dict[str, Any], at: datetime) -> tuple[Workspace, User]:
    """A workspace of the app for the person with that address, who owns it."""
    user = person_of(session, body["user"], at=at)
    made = Workspace(name=body["name"], timezone=body["timezone"])
    made.acquisition_source, made.provisioned_by_app_id = PROVISIONED, app.id
    return _owned(session, made, user.id, at), user


def person_of(session: Session, named: dict[str, Any], *, at: datetime) -> User:
    """The person of that address, or a new one without a password.

    Whoever signed up with the address, never proved it and belongs to no workspace but those of apps loses the password
    and what it opened, and takes the names that are given. Any other account stays as it is: what it is given opens
    once its address is proved.
    """
    # whose insertion is refused has the address written into the log of Postgres
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    session.execute(insert(User).values(email=named["email"]).on_conflict_do_nothing())
    found = session.scalars(sa.select(User).where(User.email == named["email"]).with_for_update(key_share=True)).one()
    if found.email_verified_at is None and not _opens_any(session, found):
        if found.password_hash is not None:
            found.password_hash = found.first_name = found.last_name = None
            sign_in.end_sessions(session, user_id=found.id)
            unproven.end_what_was_let_in(session, user_id=found.id, at=at)
        found.first_name = named.get("first_name") or found.first_name
        found.last_name = named.get("last_name") or found.last_name
        session.flush()
    return found


def _opens_any(session: Session, person: User) -> bool:
    return session.scalar(workspaces_of(person.id).with_only_columns(Workspace.id).limit(1)) is not None


def just_made(session: Session, user_id: str, name: str, at: datetime) -> Workspace | None:
    """The workspace of that name which the person made within the repeat window."""
    # an owner since the workspace's first moment is the person who made it
    made = (
        sa.select(Workspace)
        .join(Membership, Membership.workspace_id == Workspace.id)
        .where(
            Membership.user_id == user_id,
            Membership.created_at == Workspace.created_at,
            Workspace.name == name,
            Workspace.provisioned_by_app_id.is_(None),
            Workspace.archived_at.is_(None),
            Workspace.created_at > at - REPEAT_WINDOW,
        )
        .order_by(Workspace.created_at.desc())
    )
    return session.scalars(made.limit(1)).one_or_none()


def _owned(session: Session, made: Workspace, user_id: str, at: datetime) -> Workspace:
    made.created_at = at
    session.add(made)
    session.flush()
    session.add(Membership(workspace_id=made.id, user_id=user_id, role=Role.OWNER.word, created_at=at))
    session.flush()
    return made
