"""GET and PATCH /tracking/settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from api import auth, context, db, errors
from api.audit import Attempt, record, target
from api.guard import guarded
from api.http import Blueprint
from api.models import Profile, TrackerSettings, Workspace
from api.reach import is_healthcare
from api.scopes import Scope
from api.tracker_settings import tracker_of
from api.v1.tracking.schemas import TrackerSettingsBody, TrackerSettingsShape
from api.writing import actor, idempotent, session

bp = Blueprint("tracker_settings", __name__, description="What a profile's tracker may do.")


@bp.route("/tracking/settings")
@guarded(scope=Scope.TRACKING_WRITE)
@bp.response(200, TrackerSettingsShape)
def tracking_settings() -> dict[str, Any]:
    """What the profile's tracker may do

    Until somebody changes them they are those of every new profile. GET /tracker.js hands them to the site's pages,
    which may keep them for ten minutes. A healthcare profile's tracker never captures what people type.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return asdict(tracker_of(reading, reading.get_one(Profile, auth.current().profile.id)))


@bp.route("/tracking/settings", methods=["PATCH"])
@guarded(scope=Scope.TRACKING_WRITE)
@bp.arguments(TrackerSettingsBody)
@idempotent()
@bp.response(200, TrackerSettingsShape)
def change_tracking_settings(body: dict[str, Any]) -> dict[str, Any]:
    """Change what the profile's tracker may do

    Members left out keep their values. A healthcare profile's tracker never captures what people type.
    """
    profile = session().get_one(Profile, auth.current().profile.id, with_for_update={"key_share": True})
    before = asdict(tracker_of(session(), profile))
    changed = {name: value for name, value in body.items() if value != before[name]}
    details = {
        "target": target("profile", profile.id, profile.name),
        "before": {name: before[name] for name in changed},
        "after": changed,
    }
    attempt = Attempt("tracking_settings.changed", details, "privacy")
    if body.get("capture_typed_identity") and is_healthcare(_home(profile), profile):
        refusal = errors.INVALID_STATE(
            "A healthcare profile's tracker captures nothing that people type.", reason="healthcare_workspace"
        )
        raise refusal.audited(attempt)
    _set(profile.id, body)
    record(session(), actor(), attempt, outcome="done" if changed else "no_change")
    return asdict(tracker_of(session(), profile))


def _home(profile: Profile) -> Workspace:
    return session().get_one(Workspace, profile.workspace_id)


def _set(profile_id: str, body: dict[str, Any]) -> None:
    row = session().get(TrackerSettings, profile_id)
    if row is None:
        row = TrackerSettings(profile_id=profile_id)
        session().add(row)
    for name, value in body.items():
        setattr(row, name, value)
    session().flush()
