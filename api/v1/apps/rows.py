"""Registered apps as they are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import actors, dpa, op_lists
from api.dpa import Standing
from api.models import App, Delegation, Profile
from api.op_lists import By

_ORDER = (
    By(App.created_at.expression, lambda row: row.created_at),
    By(App.id.expression, lambda row: row.id),
)


def page(
    session: Session, workspace_id: str, query: Mapping[str, Any], *, profile_id: str | None
) -> list[dict[str, Any]]:
    """One page of the apps of a workspace, in the order they were registered; with a profile those tied to it."""
    chosen = sa.select(App).where(App.workspace_id == workspace_id)
    if profile_id is not None:
        tied = sa.exists().where(Delegation.app_id == App.id, Delegation.profile_id == profile_id)
        chosen = chosen.where(tied)
    filters = {"profile_id": profile_id}
    rows = op_lists.page(session, chosen, _ORDER, query, route="/oauth-apps", owner=workspace_id, filters=filters)
    return told(session, rows)


def told(session: Session, apps: Sequence[App]) -> list[dict[str, Any]]:
    """The record of each app."""
    ids = [app.id for app in apps]
    counts, agreements = profiles_of(session, ids), agreements_of(session, dpa.standings(session, ids))
    return [
        {
            "app_id": app.id,
            "client_id": app.client_id,
            "name": app.name,
            "description": app.description,
            "logo_url": app.logo_url,
            "redirect_uris": app.redirect_uris,
            "connect_scopes": app.connect_scopes,
            "status": app.status,
            "profiles_count": counts.get(app.id, 0),
            "created_at": app.created_at,
            "dpa": agreements[app.id],
        }
        for app in apps
    ]


def profiles_of(session: Session, app_ids: Sequence[str], *, kind: str | None = None) -> dict[str, int]:
    """How many live profiles are tied to each app; with `kind` only those provisioned, or adopted."""
    chosen = (
        sa.select(Delegation.app_id, sa.func.count())
        .join(Profile, Profile.id == Delegation.profile_id)
        .where(Delegation.app_id.in_(app_ids), Profile.archived_at.is_(None))
        .group_by(Delegation.app_id)
    )
    chosen = chosen.where(Delegation.kind == kind) if kind else chosen
    return {row[0]: row[1] for row in session.execute(chosen)}


def agreements_of(session: Session, standings: Mapping[str, Standing]) -> dict[str, dict[str, Any]]:
    """Where each app stands with the agreement, and who signed it."""
    signed = [one.signature for one in standings.values() if one.signature]
    names = actors.told(session, [(one.accepted_by_kind, one.accepted_by_id) for one in signed])
    return {app_id: _agreement(one, names) for app_id, one in standings.items()}


def _agreement(standing: Standing, names: Mapping[tuple[str, str | None], dict[str, Any]]) -> dict[str, Any]:
    signature = standing.signature
    return {
        "state": standing.state,
        "version": signature.version if signature else None,
        "current_version": dpa.VERSION,
        "accepted_by": names[signature.accepted_by_kind, signature.accepted_by_id] if signature else None,
        "accepted_at": signature.accepted_at if signature else None,
        "withdrawn_at": signature.withdrawn_at if signature else None,
    }
