"""Registering, changing and suspending apps, and their secrets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials, errors
from api.db import now
from api.models import ApiKey, App, AppSecret, OAuthAuthorization
from api.oauth import families


def find(session: Session, workspace_id: str, app_id: str) -> App:
    """An app of the workspace, which nobody else changes meanwhile; 404 not_found for any other id."""
    chosen = sa.select(App.id).where(App.id == app_id, App.workspace_id == workspace_id)
    found = session.scalars(chosen).one_or_none()
    if found is None:
        raise errors.NOT_FOUND("There is no such app.")
    return families.hold_app(session, found)


def register(session: Session, *, workspace_id: str, wanted: Mapping[str, Any]) -> tuple[App, str]:
    """A new app of the workspace, and its secret; 409 duplicate_name when any app's name reads the same."""
    app = App(workspace_id=workspace_id, client_id=credentials.mint("tl_app"), status="active", **wanted)
    try:
        with session.begin_nested():
            session.add(app)
    except sa.exc.IntegrityError:
        raise _duplicate() from None
    return app, _secret(session, app)


def change(session: Session, *, app: App, wanted: Mapping[str, Any]) -> None:
    """Give an app new values; suspending it ends all its keys, what people let it do and what it is told of."""
    suspends = wanted.get("status") == "suspended" and app.status != "suspended"
    try:
        with session.begin_nested():
            for name, value in wanted.items():
                setattr(app, name, value)
    except sa.exc.IntegrityError:
        raise _duplicate() from None
    if suspends:
        _end(session, app)


def rotate_secret(session: Session, *, app: App, grace_days: int) -> tuple[str, datetime]:
    """A new secret; those so far end after the grace, or when they would have ended anyway.

    Gives the secret, and when the last of the others ends.
    """
    at = now()
    ends = at + timedelta(days=grace_days)
    chosen = sa.select(AppSecret).where(AppSecret.app_id == app.id)
    alive = [one for one in session.scalars(chosen) if one.expires_at is None or one.expires_at > at]
    for one in alive:
        one.expires_at = min(one.expires_at or ends, ends)
    secret = _secret(session, app)
    return secret, max((one.expires_at for one in alive if one.expires_at), default=at)


def _secret(session: Session, app: App) -> str:
    secret = credentials.mint("tl_secret")
    session.add(AppSecret(app_id=app.id, digest=credentials.digest(secret)))
    session.flush()
    return secret


def _end(session: Session, app: App) -> None:
    at = now()
    open_ = OAuthAuthorization.status.in_(("requested", "granted"))
    for one in families.hold(session, OAuthAuthorization.app_id == app.id, open_):
        if one.status == "granted":
            families.tell_end(session, one, families.SUSPENDED)
        one.status, one.revoked_at = "revoked", at
    keys = sa.update(ApiKey).where(ApiKey.app_id == app.id, ApiKey.revoked_at.is_(None))
    session.execute(keys.values(revoked_at=at))
    families.let_go(session, app_id=app.id)


def _duplicate() -> errors.ApiError:
    return errors.INVALID_STATE("Another app has this name.", reason="duplicate_name")
