"""Accounts whose address nobody proved: what was let in with them ends once the address is somebody else's."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.models import OAuthAuthorization, UserToken
from api.oauth import families


def end_what_was_let_in(session: Session, *, user_id: str, at: datetime) -> None:
    """End the person's user tokens, and what they let agents and apps do, with all that was issued for it."""
    open_ = OAuthAuthorization.status.in_(("requested", "granted"))
    for one in families.hold(session, OAuthAuthorization.user_id == user_id, open_):
        families.end(session, one)
        one.status, one.revoked_at = "revoked", at
    tokens = sa.update(UserToken).where(UserToken.user_id == user_id, UserToken.revoked_at.is_(None))
    session.execute(tokens.values(revoked_at=at))
    session.flush()
