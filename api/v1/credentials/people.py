"""People and their passwords, as the routes of /auth change them."""

from __future__ import annotations

from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from api import db, errors, one_time, unproven
from api.db import now
from api.models import Membership, User, Workspace
from api.models.workspace import PROVISIONED
from api.v1.credentials import letters
from touchledger.settings import Settings


def sign_up(
    session: Session,
    settings: Settings,
    *,
    email: str,
    password_hash: str,
    first_name: str | None,
    last_name: str | None,
) -> User:
    """A new person, or one whom only apps have named, who gets a mail to confirm the address.

    409 invalid_state/sign_up_refused for the address of an account, also when two come at once.
    """
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    row = insert(User).values(
        email=email, password_hash=password_hash, first_name=first_name, last_name=last_name
    )  # fmt: skip
    # what an app calls somebody is not told to whoever types their address
    told = {"password_hash": password_hash, "first_name": first_name, "last_name": last_name}
    taken = row.on_conflict_do_update(index_elements=[User.email], set_=told, where=_is_only_named(email))
    made = session.execute(taken.returning(User.id)).scalar()
    if made is None:
        raise errors.INVALID_STATE("This address cannot sign up.", reason="sign_up_refused")
    user = session.get_one(User, made)
    token = one_time.issue(session, user_id=user.id, purpose="email_verification")
    letters.write(session, settings, to=user, kind="email_verification", token=token)
    return user


def stored_password(url: str, *, user_id: str) -> str | None:
    """The hash of a person's password, read in a transaction of its own."""
    with db.transaction(url, durable=False) as session:
        return cast("str | None", session.scalar(sa.select(User.password_hash).where(User.id == user_id)))


def set_password(session: Session, *, user_id: str, checked: str | None, password_hash: str) -> None:
    """Set a password; refused when the one that was `checked` is no longer the stored one."""
    user = session.get_one(User, user_id, with_for_update={"key_share": True}, populate_existing=True)
    if user.password_hash != checked:
        raise errors.CURRENT_PASSWORD_INVALID()
    user.password_hash = password_hash
    one_time.end_all(session, user_id=user_id, purpose="password_reset")


def ask_for_reset(session: Session, settings: Settings, *, email: str) -> None:
    """Write to the person of an address, if there is one who may be written to; nobody learns which."""
    user = session.scalars(sa.select(User).where(User.email == email)).one_or_none()
    to = user or User(id=db.new_id(), email=email, locale="en")
    is_one = _is_written_to(session, to) and user is not None
    token = one_time.issue(session, user_id=to.id if is_one else None, purpose="password_reset")
    # to nobody as well, and taken back: the time of the answer would tell
    letter = session.begin_nested()
    letters.write(session, settings, to=to, kind="password_reset", token=token)
    session.flush()
    if is_one:
        letter.commit()
    else:
        letter.rollback()


def reset_password(session: Session, *, user_id: str, password_hash: str) -> None:
    """Set a password whatever the one before; whoever could is reached by mail, so the address is confirmed too.

    Where it never was, somebody else may have signed up with it: user tokens end, and what agents and apps may do.
    """
    # not so much that a token would wait, which is issued under a consent that is waited for below
    user = session.get_one(User, user_id, with_for_update={"key_share": True})
    user.password_hash = password_hash
    if user.email_verified_at is None:
        unproven.end_what_was_let_in(session, user_id=user_id, at=now())
    verify_address(session, user_id=user_id)


def verify_address(session: Session, *, user_id: str) -> None:
    """Keep when the address was first confirmed."""
    user = session.get_one(User, user_id)
    user.email_verified_at = user.email_verified_at or now()


def _is_only_named(email: str) -> sa.ColumnElement[bool]:
    """Nobody signed up with the address or proved it, and no workspace but those of apps knows it."""
    # by its address again: what follows ON CONFLICT is no statement that a part could be correlated to
    somebody = aliased(User)
    elsewhere = sa.select(Membership.user_id).join(Workspace, Workspace.id == Membership.workspace_id)
    elsewhere = elsewhere.join(somebody, somebody.id == Membership.user_id)
    elsewhere = elsewhere.where(somebody.email == email, Workspace.acquisition_source != PROVISIONED)
    return sa.and_(User.password_hash.is_(None), User.email_verified_at.is_(None), User.id.not_in(elsewhere))


def _is_written_to(session: Session, user: User) -> bool:
    """Whoever belongs only to workspaces that an app provisioned gets no mail.

    Somebody who signed up belongs to such a workspace once they have come in: any app names whom it likes.
    """
    held = sa.select(Workspace, Membership.last_seen_at).join(Membership, Membership.workspace_id == Workspace.id)
    rows = session.execute(held.where(Membership.user_id == user.id, Workspace.archived_at.is_(None))).all()
    came = [row.Workspace.is_provisioned and (user.password_hash is None or bool(row.last_seen_at)) for row in rows]
    return not came or not all(came)
