"""Profiles, workspaces and keys, as the command line lists them: without those of what was archived."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from api.db import now, transaction
from api.models import ApiKey, Membership, Profile, Workspace
from api.v1.credentials import keys
from touchledger.accounts import unknown
from touchledger.settings import Settings


def profiles(settings: Settings) -> list[dict[str, Any]]:
    """[{profile_id, name, timezone, currency, workspace_id, workspace}], by name."""
    chosen = sa.select(Profile, Workspace).join(Workspace, Workspace.id == Profile.workspace_id)
    chosen = chosen.where(Profile.archived_at.is_(None)).order_by(Profile.name, Profile.id)
    with transaction(settings.operational_url) as session:
        return [
            {
                "profile_id": profile.id,
                "name": profile.name,
                "timezone": profile.timezone,
                "currency": profile.reporting_currency,
                "workspace_id": workspace.id,
                "workspace": workspace.name,
            }
            for profile, workspace in session.execute(chosen)
        ]


def workspaces(settings: Settings) -> list[dict[str, Any]]:
    """[{workspace_id, name, plan, profiles, members, is_own}], by name; guests are no members."""
    of_profiles = sa.select(sa.func.count()).where(Profile.workspace_id == Workspace.id, Profile.archived_at.is_(None))
    of_members = sa.select(sa.func.count()).where(Membership.workspace_id == Workspace.id, Membership.role != "guest")
    chosen = sa.select(Workspace, of_profiles.scalar_subquery(), of_members.scalar_subquery())
    chosen = chosen.where(Workspace.archived_at.is_(None)).order_by(Workspace.name, Workspace.id)
    with transaction(settings.operational_url) as session:
        return [
            {
                "workspace_id": workspace.id,
                "name": workspace.name,
                "plan": workspace.plan,
                "profiles": profile_count,
                "members": member_count,
                "is_own": workspace.is_own,
            }
            for workspace, profile_count, member_count in session.execute(chosen)
        ]


def api_keys(settings: Settings, profile_id: str) -> list[dict[str, Any]]:
    """[{key_id, name, prefix, scopes, status, created_at, last_used_at}], newest first; ended ones too.

    Raises BadParameter for an unknown profile.
    """
    chosen = sa.select(ApiKey).where(ApiKey.profile_id == profile_id)
    with transaction(settings.operational_url) as session:
        if session.get(Profile, profile_id) is None:
            raise unknown("profile", profile_id, "--profile")
        at = now()
        return [
            {
                "key_id": key.id,
                "name": key.name,
                "prefix": key.prefix,
                "scopes": " ".join(key.scopes),
                "status": keys.status_of(key, at),
                "created_at": key.created_at,
                "last_used_at": key.last_used_at,
            }
            for key in session.scalars(chosen.order_by(ApiKey.created_at.desc(), ApiKey.id))
        ]
