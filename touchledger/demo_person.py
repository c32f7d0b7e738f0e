"""The demo's person: an owner of its workspace who can sign in, with a password made for this state folder."""

from __future__ import annotations

import secrets
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import passwords
from api.db import now
from api.models import Membership, User
from api.roles import Role
from orchestration.durable import put_in_place

EMAIL = "demo@example.com"
NAME = "demo.password"


def ensure_person(session: Session, home: Path, workspace_id: str) -> None:
    """Make the person, or leave the one that is there as it is; the password is in `demo.password` (mode 0600)."""
    user = session.scalars(sa.select(User).where(User.email == EMAIL)).one_or_none()
    if user is None:
        user = User(email=EMAIL, first_name="Demo", last_name="Owner", email_verified_at=now())
        user.password_hash = passwords.hashed(_password(home))
        session.add(user)
        session.flush()
    place = sa.select(Membership).where(Membership.workspace_id == workspace_id, Membership.user_id == user.id)
    if session.scalars(place).one_or_none() is None:
        session.add(Membership(workspace_id=workspace_id, user_id=user.id, role=Role.OWNER.word))
        session.flush()


def _password(home: Path) -> str:
    path = home / NAME
    if not path.exists():
        temporary = home / f".{NAME}"
        temporary.touch(mode=0o600)
        temporary.write_text(secrets.token_urlsafe(24))
        put_in_place(temporary, path)
    return path.read_text().strip()
