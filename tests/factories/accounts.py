"""Workspaces, profiles and keys of a test deployment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from api import db
from api.credentials import mint_api_key
from api.models import Profile, Workspace
from api.scopes import DEFAULT_SCOPES


def profile(url: str, *, name: str = "Shop", currency: str = "USD", profile_id: str | None = None) -> Profile:
    """A profile in a workspace of its own."""
    with db.transaction(url) as session:
        workspace = Workspace(name=name)
        session.add(workspace)
        session.flush()
        made = Profile(
            id=profile_id or db.new_id(),
            workspace_id=workspace.id,
            name=name,
            timezone="UTC",
            reporting_currency=currency,
        )
        session.add(made)
    return made


def secret(
    url: str,
    of: Profile,
    *,
    scopes: Iterable[str] = DEFAULT_SCOPES,
    expires_at: datetime | None = None,
    app_id: str | None = None,
    allowed_ips: Sequence[str] = (),
) -> str:
    """The secret of a new key of the profile."""
    with db.transaction(url) as session:
        key, made = mint_api_key(
            session, profile_id=of.id, scopes=scopes, name="test", expires_at=expires_at, app_id=app_id
        )
        key.allowed_ips = list(allowed_ips)
        return made
