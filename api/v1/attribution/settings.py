"""GET and PUT /attribution/settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from api import auth, context, db
from api.audit import Attempt, record, target
from api.guard import guarded
from api.http import Blueprint
from api.models import Profile
from api.roles import Role
from api.scopes import Scope
from api.v1.attribution.asking import ask_anew, newest, told
from api.v1.attribution.settings_schemas import SettingsAnswer, SettingsBody
from api.writing import actor, idempotent, session

NAMES = ("lookback_days", "half_life_days", "inherit_recurring", "own_domains", "payment_hosts")

bp = Blueprint("attribution_settings", __name__, description="What figures are computed under.")


@bp.route("/attribution/settings")
@guarded(scope=Scope.ANALYTICS_READ)
@bp.response(200, SettingsAnswer)
def attribution_settings() -> dict[str, Any]:
    """The settings that figures are computed under

    Figures follow them from the recompute's snapshot on; until then the ones served keep their earlier
    `settings_version`, which is part of their ETag.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return _told(reading, reading.get_one(Profile, auth.current().profile.id))


@bp.route("/attribution/settings", methods=["PUT"])
@guarded(scope=Scope.ATTRIBUTION_WRITE, role=Role.ADMIN)
@bp.arguments(SettingsBody)
@idempotent()
@bp.response(200, SettingsAnswer)
def change_attribution_settings(body: dict[str, Any]) -> dict[str, Any]:
    """Change the settings and compute all history anew

    Members left out keep their values. A change queues a recompute of the whole history; settings sent as they already
    are queue nothing.
    """
    profile = session().get_one(Profile, auth.current().profile.id, with_for_update={"key_share": True})
    changed = _change(profile, body)
    details = {
        "target": target("profile", profile.id, profile.name),
        "before": {name: before for name, (before, _) in changed.items()},
        "after": {name: after for name, (_, after) in changed.items()},
    }
    outcome = "done" if changed else "no_change"
    record(session(), actor(), Attempt("attribution_settings.changed", details), outcome=outcome)
    if changed:
        ask_anew(session(), profile.id)
    return _told(session(), profile)


def _change(profile: Profile, wanted: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Set what differs; [before, after] by name, in the order of the settings."""
    changed = {
        name: [getattr(profile, name), wanted[name]]
        for name in NAMES
        if name in wanted and getattr(profile, name) != wanted[name]
    }
    for name, (_, after) in changed.items():
        setattr(profile, name, after)
    return changed


def _told(reading: Session, profile: Profile) -> dict[str, Any]:
    recompute = newest(reading, profile.id)
    return {
        **{name: getattr(profile, name) for name in NAMES},
        "settings_version": profile.settings_version,
        "recompute": told(reading, recompute) if recompute else None,
    }
