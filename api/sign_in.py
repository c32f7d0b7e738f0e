"""Signing in: how often it may be tried, who an address and a password are, and the sessions that begin and end."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials, db, errors, passwords, rate_limit
from api.auth import IDLE
from api.db import now
from api.models import User, UserSession
from touchledger.settings import Settings

LIFE = timedelta(days=30)
KEPT_FOR = timedelta(days=30)
MINUTE = 60 * rate_limit.SECOND


@dataclass(frozen=True, slots=True)
class Tries:
    """How many tries of something fit into a window, for one address and for one network."""

    name: str
    reason: str
    window: int
    per_address: int | None
    per_network: int


SIGN_IN = Tries("sign-in", "sign_in_attempts", 15 * MINUTE, 10, 50)
SIGN_UP = Tries("sign-up", "sign_up_attempts", 60 * MINUTE, None, 10)
RESET = Tries("reset", "sign_in_attempts", 60 * MINUTE, 5, 50)


@dataclass(frozen=True, slots=True)
class Verified:
    """A person whose password was right, and what it was checked against."""

    user_id: str
    checked: str = field(repr=False)
    renewed: str | None = field(default=None, repr=False)


def spend_try(url: str, tries: Tries, *, caller: str | None, address: str | None = None) -> None:
    """Count one try, right or wrong, in a transaction of its own; 429 rate_limit_exceeded when there were too many."""
    buckets = [(f"{tries.name}:{_network(caller)}", tries.per_network)]
    if address is not None and tries.per_address is not None:
        # who tried to sign in is nobody's business who reads the table
        buckets.append((f"{tries.name}:{hashlib.sha256(address.encode()).hexdigest()}", tries.per_address))
    with db.transaction(url, durable=False) as session:
        waits = [
            rate_limit.charge(session, name, units=1, limit=limit, window=tries.window).retry_after
            for name, limit in buckets
        ]
    wait = max((one for one in waits if one is not None), default=None)
    if wait is not None:
        raise errors.RATE_LIMIT_EXCEEDED(reason=tries.reason, headers={"Retry-After": str(wait)})


def verify(url: str, *, email: str, password: str, caller: str | None) -> Verified:
    """The person of an address and a password.

    401 unauthorized/invalid_credentials, after the same work, for an unknown address, a wrong password and a person
    without one; 429 rate_limit_exceeded/sign_in_attempts.
    """
    spend_try(url, SIGN_IN, caller=caller, address=email)
    with db.transaction(url, durable=False) as session:
        user = session.scalars(sa.select(User).where(User.email == email)).one_or_none()
    stored = user.password_hash if user else None
    # no transaction is open while this takes its time
    if not passwords.is_right(stored, password) or user is None or stored is None:
        raise refused()
    return Verified(user.id, stored, passwords.renewed(stored, password))


def begin(session: Session, *, verified: Verified, user_agent: str | None) -> tuple[UserSession, str]:
    """The session of a verified person, and its token; refused when the password was changed in the meantime."""
    user = session.get_one(User, verified.user_id, with_for_update={"key_share": True}, populate_existing=True)
    if user.password_hash != verified.checked:
        raise refused()
    if verified.renewed is not None:
        user.password_hash = verified.renewed
    return open_session(session, user_id=user.id, user_agent=user_agent)


def open_session(session: Session, *, user_id: str, user_agent: str | None) -> tuple[UserSession, str]:
    """A new session of a person, and its token, which cannot be read again later."""
    token = credentials.mint("tl_sess")
    made = UserSession(user_id=user_id, digest=credentials.digest(token), expires_at=now() + LIFE)
    made.user_agent = (user_agent or "")[:255] or None
    session.add(made)
    session.flush()
    return made, token


def end_sessions(session: Session, *, user_id: str, but: str | None = None) -> int:
    """End all live sessions of a person, except the one with the id `but`; how many there were."""
    at = now()
    live = sa.update(UserSession).where(UserSession.user_id == user_id, *live_at(at), UserSession.id != (but or ""))
    return int(session.execute(live.values(revoked_at=at)).rowcount)  # type: ignore[attr-defined]


def forget_ended(settings: Settings) -> None:
    """Drop sessions that ended long ago, with what they say of somebody's browser; nothing tells of them any more."""
    before = now() - KEPT_FOR
    ended = sa.or_(
        UserSession.revoked_at < before, UserSession.expires_at < before, UserSession.last_seen_at < before - IDLE
    )
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.delete(UserSession).where(ended))


def live_at(at: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """What tells a session that works at this instant."""
    return (
        UserSession.revoked_at.is_(None),
        UserSession.expires_at > at,
        UserSession.last_seen_at > at - IDLE,
    )


def refused() -> errors.ApiError:
    """The one answer to every pair of address and password that opens nothing."""
    return errors.UNAUTHORIZED(
        "The address or the password is not right.",
        reason="invalid_credentials",
        headers={"WWW-Authenticate": "Bearer"},
    )


def _network(caller: str | None) -> str:
    """The address itself, or of IPv6 the /64 that one customer of a provider has to themselves."""
    try:
        address = ipaddress.ip_address(caller or "")
    except ValueError:
        return "nowhere"
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((int(address), 64), strict=False).network_address)
