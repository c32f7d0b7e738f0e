"""Features that an app switches on for its profiles."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api import errors
from api.db import now
from api.models import App, Entitlement, Profile
from api.models.entitlement import PARTNER_AUDIENCES

# clients hold the address of this switch, so it keeps the spelling that the interface fixes
ATTRIBUTION = "atribu_attribution"
FEATURES = (ATTRIBUTION, PARTNER_AUDIENCES)


def switch(session: Session, app: App, profile: Profile, feature: str, *, is_enabled: bool) -> tuple[Entitlement, bool]:
    """The feature as it now is, and whether that changed; `profile` is locked.

    404 not_found on an archived profile. 403 not_provisioned_by_app for attribution on an adopted one: its owner has
    it, and no app takes it away.
    """
    if profile.archived_at is not None:
        raise errors.NOT_FOUND()
    if feature == ATTRIBUTION and profile.provisioned_by_app_id != app.id:
        raise errors.FORBIDDEN("Attribution of an adopted profile is its owner's.", reason="not_provisioned_by_app")
    kept = session.get(Entitlement, (profile.id, feature))
    changed = has(session, profile, feature) != is_enabled
    if kept is None:
        kept = Entitlement(profile_id=profile.id, feature=feature, is_enabled=is_enabled, updated_at=now())
        session.add(kept)
    elif changed:
        kept.is_enabled, kept.updated_at = is_enabled, now()
    if feature == ATTRIBUTION:
        profile.attribution_enabled = is_enabled
    session.flush()
    return kept, changed


def has(session: Session, profile: Profile, feature: str) -> bool:
    """Whether the profile has the feature; one that was never switched is off, but for attribution."""
    if feature == ATTRIBUTION:
        return profile.attribution_enabled
    kept = session.get(Entitlement, (profile.id, feature))
    return kept is not None and kept.is_enabled
