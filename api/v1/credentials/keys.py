"""The life of an API key: minted, rotated, revoked; and which keys a caller sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials, errors, plans
from api.db import now
from api.models import ApiKey, Profile
from api.oauth import families
from api.reach import Reach, is_healthcare, of_person
from api.roles import Role
from api.scopes import Scope

GRACE = timedelta(hours=48)
SHOWN = (
    "id",
    "profile_id",
    "name",
    "prefix",
    "scopes",
    "app_id",
    "allowed_ips",
    "created_at",
    "last_used_at",
    "expires_at",
    "revoked_at",
    "rotated_from_id",
    "rotated_to_id",
)


def of(reached: Reach) -> sa.Select[ApiKey, Profile]:
    """The keys of a reached workspace, or of its one profile where one was named; each with its profile."""
    if reached.workspace is None:
        raise LookupError("keys are listed within a workspace")
    chosen = sa.select(ApiKey, Profile).join(Profile, Profile.id == ApiKey.profile_id)
    chosen = chosen.where(Profile.workspace_id == reached.workspace.id)
    return chosen.where(Profile.id == reached.profile.id) if reached.profile else chosen


def status_of(key: ApiKey, at: datetime) -> str:
    """revoked, expired, expiring (rotated, and still working) or active."""
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and at >= key.expires_at:
        return "expired"
    return "expiring" if key.rotated_to_id else "active"


def in_status(status: str, at: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """The same rule as a condition of the database; none for `all`."""
    unrevoked, ended = ApiKey.revoked_at.is_(None), sa.func.coalesce(ApiKey.expires_at <= at, sa.false())
    live = (unrevoked, sa.not_(ended))
    return {
        "all": (),
        "revoked": (ApiKey.revoked_at.is_not(None),),
        "expired": (unrevoked, ended),
        "expiring": (*live, ApiKey.rotated_to_id.is_not(None)),
        "active": (*live, ApiKey.rotated_to_id.is_(None)),
    }[status]


def mint(session: Session, *, reached: Reach, wanted: Mapping[str, Any], by: str) -> tuple[ApiKey, str]:
    """A new key for the reached profile, and its secret.

    403 role_required, insufficient_scope for more than the person's own scopes, healthcare_scope_forbidden;
    402 plan_upgrade_required.
    """
    workspace, profile = reached.workspace, reached.profile
    if workspace is None or profile is None:
        raise LookupError("a key is minted for a profile")
    _require_role(reached, Role.EDITOR)
    _require_own(reached, wanted["scopes"])
    if Scope.VISITORS_READ in wanted["scopes"] and is_healthcare(workspace, profile):
        raise errors.HEALTHCARE_SCOPE_FORBIDDEN("This profile is a healthcare business: no key reads its visitors.")
    plans.require_room(session, workspace, "api_keys", profile_id=profile.id)
    days = wanted["expires_in_days"]
    key, secret = credentials.mint_api_key(
        session,
        profile_id=profile.id,
        name=wanted["name"],
        scopes=wanted["scopes"],
        expires_at=now() + timedelta(days=days) if days else None,
    )
    key.allowed_ips = list(dict.fromkeys(wanted["allowed_ips"]))
    key.created_by_kind, key.created_by_id = "session", by
    return key, secret


def locked(session: Session, reached: Reach, key_id: str, *, by: str) -> tuple[ApiKey, Reach]:
    """One key of the reached workspace, its row locked after all that could end it, and what the person reaches now.

    404 not_found, also for who was taken out since they were let in; 403 role_required below editor, and for whoever
    is neither an admin nor the one who made it; below admin for the key of an app.
    """
    found = session.execute(of(reached).where(ApiKey.id == key_id)).one_or_none()
    if found is None:
        raise errors.NOT_FOUND()
    key: ApiKey = found.ApiKey
    # whoever ends keys of an app, of a workspace or of a consent finds the one that takes this one's place
    families.hold_key(session, key, found.Profile.workspace_id)
    named = reached.profile.id if reached.profile else None
    held = of_person(session, by, workspace_id=found.Profile.workspace_id, profile_id=named)
    # with a key of an app one may do what only admins may, and who consented to it need not be one any more
    is_own = key.app_id is None and (key.created_by_kind, key.created_by_id) == ("session", by)
    _require_role(held, Role.EDITOR if is_own else Role.ADMIN)
    return key, held


def revoke(key: ApiKey) -> bool:
    """End a key now; False when it had ended already."""
    if status_of(key, now()) in {"revoked", "expired"}:
        return False
    key.revoked_at = now()
    return True


def rotate(session: Session, *, reached: Reach, old: ApiKey, by: str) -> tuple[ApiKey, str]:
    """A key that takes the place of an active one, and its secret; the old one ends within 48 hours.

    409 invalid_state: key_not_active, already_rotated. 403 insufficient_scope as for a new key.
    """
    status = status_of(old, now())
    if status in {"revoked", "expired"}:
        raise errors.INVALID_STATE(f"This key is {status}.", reason="key_not_active")
    if status == "expiring":
        raise errors.INVALID_STATE("This key was rotated already.", reason="already_rotated")
    _require_own(reached, old.scopes)
    key, secret = credentials.mint_api_key(
        session,
        profile_id=old.profile_id,
        name=old.name,
        scopes=old.scopes,
        expires_at=old.expires_at,
        app_id=old.app_id,
    )
    key.lineage_id, key.allowed_ips, key.rotated_from_id = old.lineage_id, old.allowed_ips, old.id
    key.created_by_kind, key.created_by_id = "session", by
    end = now() + GRACE
    old.rotated_to_id, old.expires_at = key.id, min(old.expires_at or end, end)
    session.flush()
    return key, secret


def _require_own(reached: Reach, scopes: Iterable[str]) -> None:
    missing = sorted(set(scopes) - {scope.value for scope in reached.scopes})
    if missing:
        text = f"A key gets at most its maker's own scopes; yours lack {', '.join(missing)}."
        raise errors.INSUFFICIENT_SCOPE(text, required_scopes=missing)


def _require_role(reached: Reach, role: Role) -> None:
    held = reached.role or Role.GUEST
    if held < role:
        raise errors.FORBIDDEN(f"This needs the role {role.word}; yours is {held.word}.", reason="role_required")
