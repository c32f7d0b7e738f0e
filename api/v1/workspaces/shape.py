"""A workspace as it is told: the same record on every route, with what this person is and reaches in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import marshmallow as ma
import sqlalchemy as sa
from marshmallow import fields
from sqlalchemy.orm import Session

from api import reach
from api.models import Profile, Workspace
from api.plans import PLANS
from api.roles import Role

SOURCES = ("direct", "agent", "oauth", "storefront")


class WorkspaceShape(ma.Schema):
    """The top-level container of members, plan and profiles."""

    is_paged = True

    workspace_id = fields.UUID(required=True)
    name = fields.String(required=True, metadata={"description": "What people call it; not unique."})
    timezone = fields.String(required=True, metadata={"description": "IANA zone."})
    plan = fields.String(
        required=True,
        metadata={
            "enum": list(PLANS),
            "description": "The plan that holds now; GET /workspaces/{workspaceId}/subscription says why.",
        },
    )
    role = fields.String(required=True, metadata={"enum": [role.word for role in Role], "description": "The caller's."})
    is_healthcare_agency = fields.Boolean(
        required=True, metadata={"description": "Whether every profile of it is a healthcare one."}
    )
    acquisition_source = fields.String(
        required=True,
        metadata={
            "enum": list(SOURCES),
            "description": "Who made it: a person (direct), an agent, an app (oauth) or the storefront's marketplace.",
        },
    )
    reporting_currency = fields.String(required=True, metadata={"description": "Of totals over several profiles."})
    profiles_count = fields.Integer(required=True, metadata={"description": "Profiles that the caller can open."})
    created_at = fields.DateTime(required=True)


def told(session: Session, found: Sequence[tuple[Workspace, str]], user_id: str) -> list[dict[str, Any]]:
    """The record of each workspace, in order, from (workspace, the person's role in it)."""
    counts = _counts(session, [workspace.id for workspace, _ in found], user_id)
    return [
        {
            "workspace_id": workspace.id,
            "name": workspace.name,
            "timezone": workspace.timezone,
            "plan": workspace.plan,
            "role": role,
            "is_healthcare_agency": workspace.is_healthcare_agency,
            "acquisition_source": workspace.acquisition_source,
            "reporting_currency": workspace.reporting_currency,
            "profiles_count": counts.get(workspace.id, 0),
            "created_at": workspace.created_at,
        }
        for workspace, role in found
    ]


def _counts(session: Session, workspace_ids: Sequence[str], user_id: str) -> dict[str, int]:
    opened = reach.profiles_of(user_id).where(Profile.workspace_id.in_(workspace_ids))
    counted = opened.with_only_columns(Profile.workspace_id, sa.func.count().label("profiles")).group_by(
        Profile.workspace_id
    )
    return {row.workspace_id: row.profiles for row in session.execute(counted)}
