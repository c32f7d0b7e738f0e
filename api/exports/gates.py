"""Whether a conversion may leave, asked when it is matched and again each time it is about to be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from api import agreements, dpa
from api.exports import catalog
from api.exports.candidates import Candidate
from api.exports.catalog import Rule
from api.models import ExportDestination, Profile, Workspace
from connectors.meta_conversions import Match

# platforms take nothing older
OLDEST = timedelta(days=7)

SKIP_REASONS = (
    "healthcare_allowlist_blocked",
    "healthcare_stage_transition_blocked",
    "healthcare_missing_conversion_key",
    "hipaa_baa_unsigned",
    "legal_gate_blocked",
    "legal_compliance_missing",
    "destination_disabled",
    "no_identifiers",
    "too_old",
    "consent_denied",
    "test_event",
    "duplicate",
    "zero_value",
    "retracted",
)


@dataclass(frozen=True, slots=True)
class Situation:
    """What a profile's exports are judged under at one moment; `standing` is that of the app it came from, if any."""

    at: datetime
    is_healthcare: bool
    needs_agreement: bool
    is_signed: bool
    rules: Mapping[str, Rule]
    standing: dpa.Standing | None

    def lets(self, candidate: Candidate) -> bool:
        """Whether its type is to be exported at all; in a healthcare mode a type that is not is skipped, and told."""
        rule = self.rules.get(candidate.type)
        return self.is_healthcare or (rule is not None and rule.enabled)

    def shown(self, match: Match) -> Match:
        """What of a person goes to a platform: no id of the business's own where health is concerned."""
        return replace(match, external_id=None) if self.is_healthcare else match

    def sends_value(self, destination: ExportDestination, candidate: Candidate) -> bool:
        rule = self.rules.get(candidate.type)
        return destination.send_value and rule is not None and rule.send_value


def situation(session: Session, profile: Profile, at: datetime) -> Situation:
    """The situation of a profile now."""
    workspace = session.get_one(Workspace, profile.workspace_id)
    app = profile.provisioned_by_app_id
    return Situation(
        at=at,
        is_healthcare=catalog.family_of(workspace, profile) == "healthcare",
        needs_agreement=profile.privacy_mode == "hipaa",
        is_signed=bool(agreements.signed(session, [profile.id])),
        rules=catalog.rules(session, profile),
        standing=dpa.standing(session, app) if app else None,
    )


def skip_reason(now: Situation, candidate: Candidate) -> str | None:
    """Why it may not leave, the first that applies: one of `SKIP_REASONS`, or None."""
    return _of_itself(candidate) or law(now) or _of_health(now, candidate) or _of_platform(now, candidate)


def _of_itself(candidate: Candidate) -> str | None:
    if candidate.is_test:
        return "test_event"
    if candidate.is_retracted:
        return "retracted"
    return "duplicate" if candidate.is_duplicate else None


def law(now: Situation) -> str | None:
    """Which agreement stands in the way of anything being sent for the profile, as a skip reason."""
    if now.standing is not None and now.standing.is_gated(now.at):
        return "legal_compliance_missing" if now.standing.state == "not_accepted" else "legal_gate_blocked"
    return "hipaa_baa_unsigned" if now.needs_agreement and not now.is_signed else None


def _of_health(now: Situation, candidate: Candidate) -> str | None:
    if not now.is_healthcare:
        return None
    rule = now.rules.get(candidate.type)
    if rule is None:
        return "healthcare_missing_conversion_key"
    if candidate.source == "crm":
        # how far somebody has come in a practice's own stages tells of treatment
        return "healthcare_stage_transition_blocked"
    return None if rule.enabled else "healthcare_allowlist_blocked"


def _of_platform(now: Situation, candidate: Candidate) -> str | None:
    if candidate.occurred_at < now.at - OLDEST:
        return "too_old"
    if candidate.is_refused:
        return "consent_denied"
    if candidate.is_cash and candidate.value == 0:
        return "zero_value"
    return "no_identifiers" if now.shown(candidate.match).is_empty else None
