"""Who is asking: a credential becomes a principal. What the principal may see is `api/reach.py`."""

from __future__ import annotations

import base64
import hmac
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import cast

import sqlalchemy as sa
from flask import g
from sqlalchemy.orm import Session

from api import context, credentials, errors, prepared
from api.db import UtcDateTime, connection_of, now
from api.models import ApiKey, App, AppSecret, Profile, UserSession, UserToken, Workspace
from api.prepared import Prepared
from api.reach import Reach, is_healthcare
from api.scopes import GRANTS, INCLUDES, Scope, grants_with


def _live(kind: type[ApiKey] | type[UserToken] | type[UserSession]) -> tuple[sa.ColumnElement[bool], ...]:
    """In the statement, so that an ended credential takes the way of one that never was, and its time."""
    unexpired = sa.or_(kind.expires_at.is_(None), kind.expires_at > AT)
    return kind.digest == SOUGHT, kind.revoked_at.is_(None), unexpired


# built once: putting a statement together costs more than running it
SOUGHT: sa.BindParameter[str] = sa.bindparam("sought")
AT: sa.BindParameter[datetime] = sa.bindparam("at", type_=UtcDateTime())
KEY_PARTS = (
    ApiKey.id, ApiKey.digest, ApiKey.lineage_id, ApiKey.app_id, ApiKey.scopes, ApiKey.allowed_ips, ApiKey.last_used_at,
)  # fmt: skip
PROFILE = cast(sa.Table, Profile.__table__)
KEY = Prepared(sa.select(*KEY_PARTS, *PROFILE.c).join(PROFILE, PROFILE.c.id == ApiKey.profile_id).where(*_live(ApiKey)))
TOKEN = sa.select(UserToken).where(*_live(UserToken))
USED = Prepared(
    sa.update(cast(sa.Table, ApiKey.__table__)).where(ApiKey.id == sa.bindparam("key")).values(last_used_at=AT)
)
SESSION = sa.select(UserSession).where(*_live(UserSession))
SECRET = sa.select(AppSecret, App).join(App, App.id == AppSecret.app_id).where(AppSecret.digest == SOUGHT)

LAST_USED_STEP = timedelta(minutes=1)
IDLE = timedelta(days=7)
WITHHELD = frozenset({Scope.CUSTOMERS_READ, Scope.VISITORS_READ})


class Kind(StrEnum):
    """The kinds of credential."""

    API_KEY = "api_key"
    USER_TOKEN = "user_token"  # noqa: S105 - a kind, not a secret
    SESSION = "session"
    APP = "app"


PREFIXES = {"tl_live": Kind.API_KEY, "tl_user": Kind.USER_TOKEN, "tl_sess": Kind.SESSION}
LIMITS = {Kind.API_KEY: 60, Kind.USER_TOKEN: 120, Kind.SESSION: 240, Kind.APP: 120}


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of one request. `account` is what the rate is kept under; rotated keys share it.

    `scopes` are what the credential itself carries: a key's own, or what a user token's grants map to; a session
    carries all, since its person's membership decides. `reach` is what this request is about.
    """

    kind: Kind
    id: str
    account: str
    scopes: frozenset[str]
    user_id: str | None = None
    app: App | None = None
    own_profile: Profile | None = None
    allowed_ips: tuple[str, ...] = ()
    reach: Reach = field(default_factory=Reach)

    @property
    def profile(self) -> Profile:
        """The profile this request is about; only on routes that have one."""
        if self.reach.profile is None:
            raise LookupError("this request is about no profile")
        return self.reach.profile

    @property
    def workspace(self) -> Workspace:
        """The workspace this request is about; only on workspace routes."""
        if self.reach.workspace is None:
            raise LookupError("this request is about no workspace")
        return self.reach.workspace

    @property
    def person(self) -> str:
        """The user behind a session or a user token."""
        if self.user_id is None:
            raise LookupError("no person is behind this credential")
        return self.user_id

    @property
    def writer(self) -> str:
        """What Idempotency-Keys are kept under: the person, whichever session or token they write with."""
        return f"user:{self.user_id}" if self.user_id else self.account

    @property
    def app_id(self) -> str | None:
        return self.app.id if self.app else None

    @property
    def is_partner(self) -> bool:
        """Whether the key was minted for a consumer app."""
        return self.kind is Kind.API_KEY and self.app is not None

    @property
    def limit(self) -> int:
        """Units per minute."""
        return LIMITS[self.kind]

    def has(self, scope: Scope, *, membership: bool = True) -> bool:
        """Whether both halves allow it: the credential's and, for a person, the membership's."""
        given = self.user_id is None or not membership or scope in self.reach.scopes
        wider = [one.value for one, included in INCLUDES.items() if included is scope]
        return given and not self.scopes.isdisjoint({scope.value, *wider})


def current() -> Principal:
    """The caller of this request; only inside a guarded view."""
    return cast(Principal, g.principal)


@dataclass(frozen=True, slots=True)
class Presented:
    """A well-formed credential of an Authorization header, not yet looked up. An app's has its id beside it."""

    kind: Kind
    secret: str = field(repr=False)
    client_id: str | None = None


def presented(header: str | None) -> Presented:
    """The credential of an Authorization header; 401 unauthorized for anything else, without touching the database."""
    scheme, _, value = (header or "").partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer":
        kind = PREFIXES.get(value.rpartition("_")[0])
        if kind is not None and credentials.is_well_formed(value, value.rpartition("_")[0]):
            return Presented(kind, value)
    elif scheme.lower() == "basic":
        client_id, _, secret = _decoded(value).partition(":")
        if credentials.is_well_formed(client_id, "tl_app") and credentials.is_well_formed(secret, "tl_secret"):
            return Presented(Kind.APP, secret, client_id)
    raise unauthorized()


def unauthorized() -> errors.ApiError:
    """The one answer to every credential that does not open anything."""
    return errors.UNAUTHORIZED(headers={"WWW-Authenticate": context.challenge()})


def authenticate(session: Session, given: Presented) -> Principal:
    """The principal of a well-formed credential; 401 unauthorized when it is unknown, expired or revoked."""
    sought = credentials.digest(given.secret)
    found = _FINDERS[given.kind](session, sought, given)
    if found is None:
        raise unauthorized()
    return found


def require_scope(principal: Principal, scopes: Iterable[Scope], *, membership: bool = True) -> None:
    """403 insufficient_scope, naming what is missing, and for a user token what each half gives.

    Without `membership` only the credential's half is asked. Where a wider grant would do, the answer names it.
    """
    missing = [scope.value for scope in scopes if not principal.has(scope, membership=membership)]
    if not missing:
        return
    words = f"This credential lacks the scope {', '.join(missing)}."
    headers: dict[str, str] = {}
    if principal.kind is Kind.USER_TOKEN:
        words += f" Its grant gives {_told(principal.scopes)}"
        words += f"; the membership gives {_told(principal.reach.scopes)}." if principal.reach.role else "."
        if not membership or principal.reach.scopes.issuperset(missing):
            headers = {"WWW-Authenticate": context.challenge(scope=" ".join(grants_with(missing, principal.scopes)))}
    raise errors.INSUFFICIENT_SCOPE(words, headers=headers, required_scopes=missing)


def withheld(principal: Principal, workspace: Workspace) -> frozenset[Scope]:
    """What a credential never carries on a healthcare profile: partner keys no people, nobody its visitors."""
    if principal.reach.profile is None or not is_healthcare(workspace, principal.profile):
        return frozenset()
    return WITHHELD if principal.is_partner else frozenset({Scope.VISITORS_READ})


def require_healthcare(principal: Principal, workspace: Workspace, scopes: Iterable[Scope]) -> None:
    """403 healthcare_scope_forbidden for a scope that is withheld on the profile."""
    if withheld(principal, workspace) & set(scopes):
        raise errors.HEALTHCARE_SCOPE_FORBIDDEN(
            "This profile is a healthcare business: use aggregated analytics and projected journeys instead."
        )


def require_entitlement(principal: Principal) -> None:
    """409 entitlement_required on a profile that an app provisioned and has not enabled attribution for."""
    profile = principal.profile
    if profile.provisioned_by_app_id is not None and not profile.attribution_enabled:
        raise errors.ENTITLEMENT_REQUIRED()


def require_address(principal: Principal, address: str | None) -> None:
    """403 forbidden/ip_not_allowed for a key that names networks when the caller is in none of them."""
    if not principal.allowed_ips:
        return
    try:
        callers = [ipaddress.ip_address(address or "")]
    except ValueError:
        callers = []
    # networks of IPv4 may have been written as IPv6 carries them
    callers += [ipaddress.ip_address(f"::ffff:{caller}") for caller in callers if caller.version == 4]
    networks = [ipaddress.ip_network(one) for one in principal.allowed_ips]
    if not any(caller in network for caller in callers for network in networks):
        raise errors.FORBIDDEN("This key is not allowed from this address.", reason="ip_not_allowed")


def _of_key(session: Session, sought: str, _: Presented) -> Principal | None:
    at = now()
    # digests are unique
    row = next(iter(KEY.rows(connection_of(session), sought=sought, at=at)), None)
    if row is None:
        return None
    key_id, digest, lineage_id, app_id, scopes, ips, last_used_at, *own = row
    if not hmac.compare_digest(digest, sought):
        return None
    app = session.get(App, app_id) if app_id else None
    if app is not None and app.status != "active":
        # also a key that was minted while its app was being suspended
        return None
    if _is_use_due(last_used_at, at):
        USED.rows(connection_of(session), key=key_id, at=at)
    profile = prepared.detached(Profile, own)
    return Principal(Kind.API_KEY, key_id, f"key:{lineage_id}", frozenset(scopes), None, app, profile, tuple(ips))


def _of_token(session: Session, sought: str, _: Presented) -> Principal | None:
    at = now()
    token = session.scalars(TOKEN, {"sought": sought, "at": at}).one_or_none()
    if token is None or not hmac.compare_digest(token.digest, sought):
        return None
    if _is_use_due(token.last_used_at, at):
        token.last_used_at = at
    scopes = frozenset(scope.value for grant in token.grants for scope in GRANTS.get(grant, ()))
    return Principal(Kind.USER_TOKEN, token.id, f"token:{token.id}", scopes, token.user_id)


def _of_session(session: Session, sought: str, _: Presented) -> Principal | None:
    row = session.scalars(SESSION, {"sought": sought, "at": now()}).one_or_none()
    if row is None or not hmac.compare_digest(row.digest, sought):
        return None
    if now() >= row.last_seen_at + IDLE:
        return None
    if now() - row.last_seen_at >= LAST_USED_STEP:
        row.last_seen_at = now()
    return Principal(Kind.SESSION, row.id, f"user:{row.user_id}", frozenset(Scope), row.user_id)


def _of_app(session: Session, sought: str, given: Presented) -> Principal | None:
    row = session.execute(SECRET, {"sought": sought}).one_or_none()
    if row is None or not hmac.compare_digest(row.AppSecret.digest, sought):
        return None
    secret: AppSecret = row.AppSecret
    wrong_id = not hmac.compare_digest((row.App.client_id or "").encode(), (given.client_id or "").encode())
    if wrong_id or (secret.expires_at is not None and now() >= secret.expires_at):
        return None
    return Principal(Kind.APP, row.App.id, f"app:{row.App.id}", frozenset(), None, row.App)


_FINDERS = {
    Kind.API_KEY: _of_key,
    Kind.USER_TOKEN: _of_token,
    Kind.SESSION: _of_session,
    Kind.APP: _of_app,
}


def _is_use_due(last: datetime | None, at: datetime) -> bool:
    return last is None or at - last >= LAST_USED_STEP


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode("ascii")
    except ValueError:
        return ""


def _told(scopes: Iterable[str]) -> str:
    return ", ".join(sorted(scopes)) or "none"
