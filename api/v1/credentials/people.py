"""People and their passwords, as the routes of /auth change them."""

from __future__ import annotations

from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api import db, errors
from api.models import User


def sign_up(session: Session, *, email: str, password_hash: str, first_name: str | None, last_name: str | None) -> User:
    """A new person; 409 invalid_state/sign_up_refused for a known address, also when two come at once."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    row = insert(User).values(
        email=email, password_hash=password_hash, first_name=first_name, last_name=last_name
    )  # fmt: skip
    made = session.execute(row.on_conflict_do_nothing().returning(User.id)).scalar()
    if made is None:
        raise errors.INVALID_STATE("This address cannot sign up.", reason="sign_up_refused")
    return session.get_one(User, made)


def stored_password(url: str, *, user_id: str) -> str | None:
    """The hash of a person's password, read in a transaction of its own."""
    with db.transaction(url, durable=False) as session:
        return cast("str | None", session.scalar(sa.select(User.password_hash).where(User.id == user_id)))


def set_password(session: Session, *, user_id: str, checked: str | None, password_hash: str) -> None:
    """Set a password; refused when the one that was `checked` is no longer the stored one."""
    user = session.get_one(User, user_id, with_for_update=True, populate_existing=True)
    if user.password_hash != checked:
        raise errors.CURRENT_PASSWORD_INVALID()
    user.password_hash = password_hash
