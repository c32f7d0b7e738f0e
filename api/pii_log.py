"""The log of who read personal data; `GET W/pii-access-log` shows it, and nothing ever changes it."""

from __future__ import annotations

from typing import Literal

from sqlalchemy.orm import Session

from api import auth, context, credentials, db
from api.auth import Kind, Principal
from api.models import ApiKey, PiiAccess, Profile, UserToken

Subject = Literal["customer", "visitor", "order", "payment", "list"]
Level = Literal["masked", "full"]


def record(
    session: Session,
    *,
    principal: Principal,
    route: str,
    method: str,
    profile_id: str,
    subject: Subject,
    customer_key: str | None,
    record_count: int,
    pii_level: Level,
) -> None:
    """Log one answer that tells personal data, before it leaves; `session` must be a durable one.

    `route` is the path as the interface writes it, with names in place of ids: `/customers/{key}`. `customer_key` is
    the one person it is about, None for several; `record_count` is how many records the answer holds.
    """
    session.add(
        PiiAccess(
            workspace_id=session.get_one(Profile, profile_id).workspace_id,
            profile_id=profile_id,
            actor_kind=principal.kind.value,
            actor_id=principal.user_id or principal.id,
            credential_prefix=_prefix(session, principal),
            method=method,
            route=route,
            subject=subject,
            customer_key=customer_key,
            record_count=record_count,
            pii_level=pii_level,
            request_id=context.request_id(),
        )
    )


def listed(route: str, subject: Subject, count: int, level: Level) -> None:
    """Log a list of `count` records that the present caller reads of its profile, in a transaction of its own."""
    caller = auth.current()
    with db.transaction(context.settings().operational_url) as session:
        record(
            session,
            principal=caller,
            route=route,
            method="GET",
            profile_id=caller.profile.id,
            subject=subject,
            customer_key=None,
            record_count=count,
            pii_level=level,
        )


def _prefix(session: Session, principal: Principal) -> str | None:
    """What lists show of the credential; a session has no such sign."""
    if principal.kind is Kind.API_KEY:
        return session.get_one(ApiKey, principal.id).prefix
    if principal.kind is Kind.USER_TOKEN:
        return session.get_one(UserToken, principal.id).prefix
    if principal.app is not None and principal.app.client_id is not None:
        return credentials.shown(principal.app.client_id)
    return None
