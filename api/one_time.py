"""Tokens that a mail carries: each for one purpose, one use and one hour; only their digests are kept."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials, errors
from api.db import now
from api.models import OneTimeToken, User

Purpose = Literal["password_reset", "email_verification"]
LIFE = timedelta(hours=1)
PREFIX = "tl_rst"


def issue(session: Session, *, user_id: str | None, purpose: Purpose) -> str:
    """A new token, which ends the earlier ones of the same purpose; forgets those that have expired.

    For nobody it opens nothing, and takes as long to make.
    """
    at = now()
    # of two at once the second ends the first
    _hold(session, user_id)
    earlier = sa.and_(OneTimeToken.user_id == user_id, OneTimeToken.kind == purpose)
    session.execute(sa.delete(OneTimeToken).where(sa.or_(earlier, OneTimeToken.expires_at <= at)))
    token = credentials.mint(PREFIX)
    session.add(
        OneTimeToken(
            kind=purpose, user_id=user_id, digest=credentials.digest(token), created_at=at, expires_at=at + LIFE
        )
    )
    return token


def require_live(session: Session, token: str, purpose: Purpose) -> None:
    """404 not_found unless the token could be used now."""
    if session.scalar(sa.select(OneTimeToken.id).where(*_live(token, purpose))) is None:
        raise errors.NOT_FOUND()


def use(session: Session, token: str, purpose: Purpose) -> str:
    """The person of a token, which is then spent; 404 not_found for any that does not open anything."""
    # the person before the codes, as whoever sets their password does
    _hold(session, session.scalar(sa.select(OneTimeToken.user_id).where(*_live(token, purpose))))
    spent = sa.update(OneTimeToken).where(*_live(token, purpose)).values(used_at=now()).returning(OneTimeToken.user_id)
    user_id = session.scalar(spent)
    if user_id is None:
        raise errors.NOT_FOUND()
    return user_id


def used_after(session: Session, token: str, purpose: Purpose, moment: datetime) -> str | None:
    """The person of a token that was used after the moment; None for any other."""
    found = sa.select(OneTimeToken.user_id).where(*_named(token, purpose), OneTimeToken.used_at > moment)
    return session.scalar(found)


def end_all(session: Session, *, user_id: str, purpose: Purpose) -> None:
    """End what is still on its way to a person."""
    session.execute(sa.delete(OneTimeToken).where(OneTimeToken.user_id == user_id, OneTimeToken.kind == purpose))


def _hold(session: Session, user_id: str | None) -> None:
    # of nobody as well: it would take less time
    session.scalar(sa.select(User.id).where(User.id == (user_id or "")).with_for_update(key_share=True))


def _live(token: str, purpose: Purpose) -> tuple[sa.ColumnElement[bool], ...]:
    return *_named(token, purpose), OneTimeToken.used_at.is_(None), OneTimeToken.expires_at > now()


def _named(token: str, purpose: Purpose) -> tuple[sa.ColumnElement[bool], ...]:
    is_it = OneTimeToken.digest == credentials.digest(token)
    return is_it, OneTimeToken.kind == purpose, OneTimeToken.user_id.is_not(None)
