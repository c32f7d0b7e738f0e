"""Which conversion types a profile lets out, with or without their value, in its present privacy mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.db import now
from api.models import ConversionCatalog, Profile, Workspace
from api.reach import is_healthcare
from api.served import CONVERSION_TYPES

# from the most open to the strictest
MODES = ("standard", "platform_safe", "hipaa")
ALLOWED_AT_FIRST = ("payment_received", "lead_created")


@dataclass(frozen=True, slots=True)
class Rule:
    """Whether conversions of a type leave, and whether their value goes with them."""

    type: str
    enabled: bool
    send_value: bool


def loosens(before: str, after: str) -> bool:
    """Whether a change of privacy mode lets more out."""
    return MODES.index(after) < MODES.index(before)


def rules(session: Session, profile: Profile) -> dict[str, Rule]:
    """The rule of each conversion type, in the order of `CONVERSION_TYPES`."""
    return rules_of_many(session, [profile])[profile.id]


def rules_of_many(session: Session, profiles: Sequence[Profile]) -> dict[str, dict[str, Rule]]:
    """By profile id, the same for several profiles."""
    workspaces = sa.select(Workspace).where(Workspace.id.in_({one.workspace_id for one in profiles}))
    homes = {one.id: one for one in session.scalars(workspaces)}
    ids = [one.id for one in profiles]
    chosen = sa.select(ConversionCatalog).where(ConversionCatalog.profile_id.in_(ids))
    kept = {(one.profile_id, one.family): one.rules for one in session.scalars(chosen)}
    found = {}
    for profile in profiles:
        family = family_of(homes[profile.workspace_id], profile)
        set_rules = kept.get((profile.id, family))
        found[profile.id] = _at_first(family) if set_rules is None else {one["type"]: Rule(**one) for one in set_rules}
    return found


def family_of(workspace: Workspace, profile: Profile) -> str:
    """`healthcare` where only what is on an allow-list leaves, else `standard`."""
    return "healthcare" if is_healthcare(workspace, profile) else "standard"


def put(session: Session, profile: Profile, family: str, given: Sequence[Mapping[str, Any]]) -> None:
    """Make these rows {type, enabled, send_value} the family's rules; a type not named stays in."""
    named = {one["type"]: Rule(**one) for one in given}
    wanted = [asdict(named.get(name, Rule(name, enabled=False, send_value=False))) for name in CONVERSION_TYPES]
    session.merge(ConversionCatalog(profile_id=profile.id, family=family, rules=wanted, updated_at=now()))
    session.flush()


def _at_first(family: str) -> dict[str, Rule]:
    if family == "standard":
        return {name: Rule(name, enabled=True, send_value=True) for name in CONVERSION_TYPES}
    return {name: Rule(name, enabled=name in ALLOWED_AT_FIRST, send_value=False) for name in CONVERSION_TYPES}
