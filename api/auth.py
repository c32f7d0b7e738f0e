"""Who is asking: a credential becomes a principal, and the one profile it may read."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import cast

import sqlalchemy as sa
from flask import g
from sqlalchemy.orm import Session

from api import credentials, errors
from api.db import now
from api.models import ApiKey, Profile
from api.scopes import Scope

# built once: putting a statement together costs more than running it
BY_DIGEST = (
    sa.select(ApiKey, Profile)
    .join(Profile, Profile.id == ApiKey.profile_id)
    .where(ApiKey.digest == sa.bindparam("sought"))
)
LAST_USED_STEP = timedelta(minutes=1)


class Kind(StrEnum):
    """The kinds of credential."""

    API_KEY = "api_key"
    USER_TOKEN = "user_token"  # noqa: S105 - a kind, not a secret
    SESSION = "session"
    APP = "app"


LIMITS = {Kind.API_KEY: 60, Kind.USER_TOKEN: 120, Kind.SESSION: 240, Kind.APP: 120}


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of one request. `account` is what rate and idempotency are kept under; rotated keys share it."""

    kind: Kind
    id: str
    account: str
    scopes: frozenset[str]
    profile: Profile
    app_id: str | None = None

    @property
    def is_partner(self) -> bool:
        """Whether the key was minted for a consumer app."""
        return self.kind is Kind.API_KEY and self.app_id is not None

    @property
    def limit(self) -> int:
        """Units per minute."""
        return LIMITS[self.kind]

    def has(self, scope: Scope) -> bool:
        return scope.value in self.scopes


def current() -> Principal:
    """The caller of this request; only inside a guarded view."""
    return cast(Principal, g.principal)


def bearer(header: str | None) -> str:
    """The API key of an Authorization header; 401 unauthorized for anything else, without touching the database."""
    scheme, _, secret = (header or "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not credentials.is_well_formed(secret, "tl_live"):
        raise unauthorized()
    return secret


def unauthorized() -> errors.ApiError:
    """The one answer to every credential that does not open anything."""
    return errors.UNAUTHORIZED(headers={"WWW-Authenticate": "Bearer"})


def authenticate(session: Session, secret: str) -> Principal:
    """The principal of a well-formed API key; 401 unauthorized when it is unknown, expired or revoked."""
    sought = credentials.digest(secret)
    row = session.execute(BY_DIGEST, {"sought": sought}).one_or_none()
    if row is None or not hmac.compare_digest(row.ApiKey.digest, sought) or not _is_live(row.ApiKey, now()):
        raise unauthorized()
    key: ApiKey = row.ApiKey
    _mark_used(key)
    return Principal(Kind.API_KEY, key.id, f"key:{key.lineage_id}", frozenset(key.scopes), row.Profile, key.app_id)


def require_reach(principal: Principal, *, profile_id: str | None, workspace_id: str | None) -> None:
    """404 not_found unless the profile is live and every id the caller names is its own: one answer for all."""
    profile = principal.profile
    named_another = profile_id not in {None, profile.id} or workspace_id not in {None, profile.workspace_id}
    if profile.archived_at is not None or named_another:
        raise errors.NOT_FOUND()


def require_scope(principal: Principal, scopes: Iterable[Scope]) -> None:
    """403 insufficient_scope, naming what is missing."""
    missing = [scope.value for scope in scopes if not principal.has(scope)]
    if missing:
        raise errors.INSUFFICIENT_SCOPE(
            f"This credential lacks the scope {', '.join(missing)}.", required_scopes=missing
        )


def require_entitlement(principal: Principal) -> None:
    """409 entitlement_required on a profile that an app provisioned and has not enabled attribution for."""
    profile = principal.profile
    if profile.provisioned_by_app_id is not None and not profile.attribution_enabled:
        raise errors.ENTITLEMENT_REQUIRED()


def _is_live(key: ApiKey, at: datetime) -> bool:
    return key.revoked_at is None and (key.expires_at is None or at < key.expires_at)


def _mark_used(key: ApiKey) -> None:
    at = now()
    if key.last_used_at is None or at - key.last_used_at >= LAST_USED_STEP:
        key.last_used_at = at
