"""GET and PATCH W/compliance-overview: where each profile of a workspace stands with personal and health data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from marshmallow import Schema, fields
from sqlalchemy.orm import Session

from api import agreements, auth, context, db, dpa, errors, reach
from api.audit import Attempt, record, target
from api.auth import Kind
from api.body_fields import Flag
from api.exports import catalog, destinations
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import ApiKey, Delegation, Erasure, PiiAccess, Profile, Workspace
from api.roles import Role
from api.scopes import PII, Scope
from api.v1.profiles.shape import PRIVACY_MODES
from api.writing import actor, idempotent, session

bp = Blueprint("compliance", __name__, description="Where profiles stand with personal and health data.")

ACTION = "healthcare_agency.changed"
MASKED = "masked_default"
# of several apps the state that needs somebody soonest
WORST_FIRST = ("withdrawn", "not_accepted", "outdated", "accepted")


class ComplianceBody(Schema):
    healthcare_agency = Flag(
        required=True, metadata={"description": "true takes effect at once; false is for an owner who is signed in."}
    )


class ProfileCompliance(Schema):
    """One profile's posture."""

    profile_id = fields.UUID(required=True)
    name = fields.String(required=True, metadata={"description": "The profile's name."})
    privacy_mode = fields.String(required=True, metadata={"enum": list(PRIVACY_MODES)})
    is_healthcare = fields.Boolean(
        required=True, metadata={"description": "By its agency's mark, or a privacy mode other than standard."}
    )
    agreement_status = fields.String(
        required=True,
        metadata={
            "enum": ["none", "signed"],
            "description": "Whether the current agreement is signed; without it a profile in hipaa mode sends nothing.",
        },
    )
    allowed_conversion_types = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "What may be exported, in its privacy mode."},
    )
    enabled_destinations = fields.Integer(required=True, metadata={"description": "Switched on, whatever ails them."})
    partner_apps = fields.Integer(required=True, metadata={"description": "Apps with a delegation or a live key."})
    keys_with_pii_scopes = fields.Integer(required=True, metadata={"description": "Live keys."})
    last_pii_access_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={
            "description": "Newest entry of it in GET /workspaces/{workspaceId}/pii-access-log; null without any."
        },
    )
    open_erasures = fields.Integer(
        required=True, metadata={"description": "Erasures of customers that are not completed."}
    )
    dpa_state = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": [*WORST_FIRST, None], "description": "The worst of its apps'; null without an app."},
    )


class ComplianceOverview(Schema):
    """The workspace's mark, and the posture of each profile the caller can open, by name."""

    healthcare_agency = fields.Boolean(
        required=True,
        metadata={
            "description": "Whether the workspace has the mark, which makes every profile of it a healthcare one."
        },
    )
    profiles = fields.List(
        fields.Nested(ProfileCompliance),
        required=True,
        metadata={"description": "Those that the caller can open, by name."},
    )


@bp.route("/workspaces/<workspace_id>/compliance-overview")
@workspace_guarded(role=Role.ADMIN)
@bp.response(200, ComplianceOverview)
def compliance_overview(workspace_id: str) -> dict[str, Any]:
    """Where each profile stands with personal and health data

    Of the profiles that the caller can open. It tells where things stand and changes nothing; a profile's privacy mode
    is set by its conversion catalogue, the mark of the whole workspace by PATCH here.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return _told(reading, reading.get_one(Workspace, workspace_id))


@bp.route("/workspaces/<workspace_id>/compliance-overview", methods=["PATCH"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(ComplianceBody)
@idempotent()
@bp.response(200, ComplianceOverview)
def mark_healthcare_agency(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Say whether the workspace is a healthcare agency

    Once it is, partner keys lose the scopes of personal data at once, agents are told masked data only, and export
    destinations none of whose types may leave any more are switched off. Taking the mark away is for an owner who is
    signed in.
    """
    workspace = session().get_one(Workspace, workspace_id, with_for_update={"key_share": True})
    before, after = workspace.is_healthcare_agency, body["healthcare_agency"]
    details: dict[str, dict[str, Any]] = {
        "target": target("workspace", workspace.id, workspace.name),
        "before": {"healthcare_agency": before},
        "after": {"healthcare_agency": after},
    }
    attempt, caller = Attempt(ACTION, details), auth.current()
    if not after and (caller.kind is not Kind.SESSION or caller.reach.role is not Role.OWNER):
        words = "Only an owner who is signed in takes the mark of a healthcare agency away."
        raise errors.FORBIDDEN(words, reason="owner_required").audited(attempt)
    workspace.is_healthcare_agency = after
    if after and workspace.pii_mode != MASKED:
        _mask(workspace)
    if emptied := 0 if before or not after else _switch_off_emptied(workspace_id):
        details["after"]["destinations_disabled"] = emptied
    record(session(), actor(), attempt)
    session().flush()
    return _told(session(), workspace)


def _switch_off_emptied(workspace_id: str) -> int:
    """Switch off, in every profile, what the mark leaves without a type, as a stricter privacy mode does."""
    live = sa.select(Profile).where(Profile.workspace_id == workspace_id, Profile.archived_at.is_(None))
    rules = catalog.rules_of_many(session(), session().scalars(live).all())
    return sum(destinations.switch_off_emptied(session(), one, allowed) for one, allowed in rules.items())


def _mask(workspace: Workspace) -> None:
    """Have agents told masked data only, and note it as the change of their settings that it is."""
    change = {"before": {"pii_mode": workspace.pii_mode}, "after": {"pii_mode": MASKED}}
    workspace.pii_mode = MASKED
    workspace.mcp_set_at, workspace.mcp_set_by = db.now(), auth.current().person
    about = {"target": target("workspace", workspace.id, workspace.name), **change}
    record(session(), actor(), Attempt("mcp_settings.changed", about, category="privacy"))


def _told(reading: Session, workspace: Workspace) -> dict[str, Any]:
    caller = auth.current()
    opened = reach.profiles_of(caller.person).where(Profile.workspace_id == workspace.id)
    if caller.reach.profile is not None:
        opened = opened.where(Profile.id == caller.reach.profile.id)
    profiles = list(reading.scalars(opened.order_by(Profile.name, Profile.id)))
    ids = [profile.id for profile in profiles]
    keys, apps = _keys(reading, ids), _apps(reading, ids)
    with_pii = Counter(key.profile_id for key in keys if not PII.isdisjoint(key.scopes))
    for key in keys:
        if key.app_id:
            apps[key.profile_id].add(key.app_id)
    states = {app: found.state for app, found in dpa.standings(reading, sorted(set().union(*apps.values()))).items()}
    rules, enabled = catalog.rules_of_many(reading, profiles), destinations.enabled_counts(reading, ids)
    signed, read_at, erasures = (
        agreements.signed(reading, ids),
        _last_reads(reading, workspace.id, ids),
        _erasures(reading, ids),
    )
    rows = [
        {
            "profile_id": profile.id,
            "name": profile.name,
            "privacy_mode": profile.privacy_mode,
            "is_healthcare": reach.is_healthcare(workspace, profile),
            "agreement_status": "signed" if profile.id in signed else "none",
            "allowed_conversion_types": [rule.type for rule in rules[profile.id].values() if rule.enabled],
            "enabled_destinations": enabled.get(profile.id, 0),
            "partner_apps": len(apps[profile.id]),
            "keys_with_pii_scopes": with_pii[profile.id],
            "last_pii_access_at": read_at.get(profile.id),
            "open_erasures": erasures.get(profile.id, 0),
            "dpa_state": _worst(states[app] for app in apps[profile.id]),
        }
        for profile in profiles
    ]
    return {"healthcare_agency": workspace.is_healthcare_agency, "profiles": rows}


def _worst(states: Iterable[str]) -> str | None:
    return min(states, key=WORST_FIRST.index, default=None)


def _keys(reading: Session, ids: Sequence[str]) -> Sequence[sa.Row[str, str | None, list[str]]]:
    alive = sa.or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > db.now())
    live = sa.select(ApiKey.profile_id, ApiKey.app_id, ApiKey.scopes)
    return reading.execute(live.where(ApiKey.profile_id.in_(ids), ApiKey.revoked_at.is_(None), alive)).all()


def _apps(reading: Session, ids: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {one: set() for one in ids}
    for tie in reading.scalars(sa.select(Delegation).where(Delegation.profile_id.in_(ids))):
        found[tie.profile_id].add(tie.app_id)
    return found


def _last_reads(reading: Session, workspace_id: str, ids: Sequence[str]) -> Mapping[str, datetime]:
    of_profile = PiiAccess.workspace_id == workspace_id, PiiAccess.profile_id == Profile.id
    # one by one off the index: grouped, every access of all time is read
    newest = sa.select(sa.func.max(PiiAccess.at)).where(*of_profile).scalar_subquery().label("at")
    found = reading.execute(sa.select(Profile.id, newest).where(Profile.id.in_(ids)))
    return {row.id: row.at for row in found if row.at is not None}


def _erasures(reading: Session, ids: Sequence[str]) -> Mapping[str, int]:
    counted = sa.func.count().label("open")
    chosen = sa.select(Erasure.profile_id, counted).where(
        Erasure.profile_id.in_(ids), Erasure.status != "completed"
    )  # fmt: skip
    return {row.profile_id: row.open for row in reading.execute(chosen.group_by(Erasure.profile_id))}
