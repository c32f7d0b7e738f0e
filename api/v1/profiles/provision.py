"""Provisioning: one call of an app makes a profile, its people's way in, and a key to work with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors, plans, reach, tracking_keys
from api.auth import WITHHELD
from api.credentials import mint_api_key
from api.db import now
from api.models import ApiKey, App, Delegation, Membership, Profile, User, Workspace
from api.oauth import families
from api.roles import Role
from api.scopes import CONNECT_SCOPES, Scope
from api.v1.profiles import places
from api.v1.workspaces import creation


@dataclass(frozen=True, slots=True)
class Provision:
    """What an app's call left: `key` and `secret` only when the profile is new."""

    profile: Profile
    user_id: str | None
    key: ApiKey | None = None
    secret: str | None = None


def provision(session: Session, app: App, body: Mapping[str, Any]) -> Provision:
    """The profile of the app's `external_ref`, made if there is none.

    A repeat finds the profile as it is, whatever else was sent. 403 healthcare_scope_forbidden when people's data is
    asked of a healthcare profile; 403 profile_limit_reached, app_suspended.
    """
    # of two calls with one reference the second must find what the first made
    families.hold_active_app(session, app.id)
    known = _known(session, app, body["external_ref"])
    if known is not None:
        return Provision(known, _owner(session, known.workspace_id))
    _refuse_unregistered(app, body["connect_scopes"])
    workspace, user_id = _place(session, app, body)
    plans.require_profile_room(session, workspace)
    places.refuse_archived(session, workspace)
    profile = Profile(
        workspace_id=workspace.id,
        name=body["name"],
        timezone=body["timezone"],
        reporting_currency=body["currency"],
        website=body["website"],
        privacy_mode=body["privacy_mode"],
        provisioned_by_app_id=app.id,
        attribution_enabled=False,
    )
    session.add(profile)
    session.flush()
    scopes = _scopes(app, body["connect_scopes"], is_healthcare=reach.is_healthcare(workspace, profile))
    session.add(Delegation(app_id=app.id, profile_id=profile.id, external_ref=body["external_ref"], kind="provisioned"))
    key, secret = mint_api_key(session, profile_id=profile.id, scopes=scopes, name=app.name, app_id=app.id)
    key.created_by_kind, key.created_by_id = "app", app.id
    tracking_keys.mint(session, profile.id)
    return Provision(profile, user_id, key, secret)


def _known(session: Session, app: App, external_ref: str) -> Profile | None:
    tied = sa.select(Profile).join(Delegation, Delegation.profile_id == Profile.id)
    return session.scalars(
        tied.where(Delegation.app_id == app.id, Delegation.external_ref == external_ref)
    ).one_or_none()  # fmt: skip


def _owner(session: Session, workspace_id: str) -> str | None:
    chosen = sa.select(Membership.user_id).where(
        Membership.workspace_id == workspace_id, Membership.role == Role.OWNER.word
    )
    return session.scalars(chosen.order_by(Membership.created_at, Membership.id).limit(1)).one_or_none()


def _place(session: Session, app: App, body: Mapping[str, Any]) -> tuple[Workspace, str | None]:
    """The workspace, and who the call made or found to own it."""
    named = body["user"]
    if body["workspace_id"] is None:
        made, owner = creation.provisioned(session, app=app, body=dict(body), at=now())
        made.reporting_currency = body["currency"]
        return made, owner.id
    workspace = reach.of_app(session, app, workspace_id=body["workspace_id"], profile_id=None).workspace
    if workspace is None:
        raise errors.NOT_FOUND()
    if not named:
        return workspace, None
    # the workspace before the person, as whoever lets them into it does
    session.scalar(sa.select(Workspace.id).where(Workspace.id == workspace.id).with_for_update(key_share=True))
    return workspace, _joined(session, workspace, creation.person_of(session, named, at=now()))


def _joined(session: Session, workspace: Workspace, user: User) -> str:
    member = sa.select(Membership.id).where(Membership.workspace_id == workspace.id, Membership.user_id == user.id)
    if session.scalar(member) is None:
        plans.require_room(session, workspace, "members")
        session.add(Membership(workspace_id=workspace.id, user_id=user.id, role=Role.OWNER.word))
        session.flush()
    return user.id


def _refuse_unregistered(app: App, asked: Iterable[str] | None) -> None:
    foreign = sorted(set(asked or ()) - set(app.connect_scopes))
    if foreign:
        raise errors.VALIDATION_ERROR(f"connect_scopes: the app is not registered for {', '.join(foreign)}")


def _scopes(app: App, asked: Iterable[str] | None, *, is_healthcare: bool) -> set[Scope]:
    """The key's scopes; of a healthcare profile without its people, which may not be asked for by name either."""
    wanted = {scope for name in (app.connect_scopes if asked is None else asked) for scope in CONNECT_SCOPES[name]}
    if not is_healthcare:
        return wanted
    if asked is not None and wanted & WITHHELD:
        raise errors.HEALTHCARE_SCOPE_FORBIDDEN(
            "connect_scopes: analytics_pii is withheld on a healthcare profile; ask for analytics instead."
        )
    return wanted - WITHHELD
