"""GET and PATCH /profiles/{profile_id}: one profile, and what people set on it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import marshmallow as ma
from marshmallow import ValidationError, fields, validate
from sqlalchemy.orm import Session

from api import auth, context, db, errors
from api.audit import Attempt, record
from api.auth import Principal
from api.bodies import Text
from api.body_fields import Currency, TimeZone
from api.guard import PEOPLE, guarded
from api.http import Blueprint
from api.models import Profile, Workspace
from api.models.profile import LONGEST_NAME
from api.reports import scheduling
from api.roles import Role
from api.scopes import Scope
from api.v1.attribution.asking import ask_anew
from api.v1.profiles import places
from api.v1.profiles.creation_schemas import Website
from api.v1.profiles.shape import ProfileShape, told
from api.writing import actor, idempotent, session
from data_contracts.formats import currency_digits

bp = Blueprint("profile_settings", __name__, description="One profile, and what is set on it.")

NAMES = ("name", "timezone", "reporting_currency", "monthly_budget", "outcome_target", "website")
# what every figure is computed under
RECOMPUTED = frozenset({"timezone", "reporting_currency"})
MOST_MONEY = Decimal(10) ** 12


class Money(fields.Decimal):
    """A JSON number of the reporting currency, from 0; loads to the decimal as written."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        form = {"type": "number", "minimum": 0, "maximum": int(MOST_MONEY)}
        super().__init__(metadata={**(metadata or {}), **form}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValidationError("must be a number")
        amount = Decimal(str(value))
        if not 0 <= amount <= MOST_MONEY:
            raise ValidationError(f"must be from 0 to {MOST_MONEY}")
        return amount

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else float(value)


class ProfileChanges(ma.Schema):
    """What to change; a member left out keeps its value, null takes it away."""

    name = Text(
        LONGEST_NAME,
        metadata={
            "description": "What people call the business; refused where another live profile of the workspace has it."
        },
    )
    timezone = TimeZone()
    reporting_currency = Currency()
    monthly_budget = Money(
        allow_none=True,
        metadata={"description": "What is to be spent on ads in a calendar month, in the reporting currency."},
    )
    outcome_target = fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(0, 10**9, error="must be from 0 to 1000000000"),
        metadata={"description": "Outcomes wanted in a calendar month."},
    )
    website = Website(allow_none=True)


class ProfileSettings(ProfileShape):
    """A profile, and what is set on it."""

    monthly_budget = Money(
        required=True,
        allow_none=True,
        metadata={"description": "For ads in a calendar month, in the reporting currency; null where none is set."},
    )
    outcome_target = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Outcomes wanted in a calendar month; null where none is set."},
    )
    website = fields.String(
        required=True, allow_none=True, metadata={"description": "An https address; null where none is set."}
    )


@bp.route("/profiles/<profile_id>")
@guarded(scope=Scope.ANALYTICS_READ, uuids=["profile_id"], key_scopes=())
@bp.response(200, ProfileSettings)
def profile_settings(profile_id: str) -> dict[str, Any]:
    """One profile

    A key reads its own profile, with any scopes; people those they can open. Archived profiles are 404 for everybody.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return _told(reading, reading.get_one(Profile, profile_id), auth.current())


@bp.route("/profiles/<profile_id>", methods=["PATCH"])
@guarded(scope=Scope.PROFILES_WRITE, kinds=PEOPLE, role=Role.ADMIN, uuids=["profile_id"])
@bp.arguments(ProfileChanges)
@idempotent()
@bp.response(200, ProfileSettings)
def change_profile(body: dict[str, Any], profile_id: str) -> dict[str, Any]:
    """Change a profile

    Another time zone or currency queues a recompute of the whole history; figures follow with its snapshot. Another
    currency keeps the number of `monthly_budget`, and is refused where that is finer than it has decimals.
    """
    profile = _locked(profile_id)
    if "name" in body:
        places.refuse_same_name(session(), profile.workspace_id, body["name"], but=profile.id)
    _refuse_fractions(body, profile)
    before = {name: getattr(profile, name) for name in NAMES}
    changed = {name: value for name, value in body.items() if before[name] != value}
    for name, value in changed.items():
        setattr(profile, name, value)
    if "timezone" in changed:
        scheduling.move_to_zone(session(), profile.id, before["timezone"], profile.timezone)
    target = {"kind": "profile", "id": profile.id, "label": profile.name}
    details = {
        "target": target,
        "before": {name: _plain(before[name]) for name in changed},
        "after": {name: _plain(value) for name, value in changed.items()},
    }
    record(session(), actor(), Attempt("profile.changed", details), outcome="done" if changed else "no_change")
    if RECOMPUTED & changed.keys():
        ask_anew(session(), profile.id)
    session().flush()
    return _told(session(), profile, auth.current())


def _locked(profile_id: str) -> Profile:
    """The profile as it is now; its workspace is locked first, since names are compared within it."""
    found = session().get_one(Profile, profile_id)
    session().get_one(Workspace, found.workspace_id, with_for_update={"key_share": True})
    session().refresh(found, with_for_update={"key_share": True})
    if found.archived_at is not None:
        raise errors.NOT_FOUND()
    return found


def _refuse_fractions(body: Mapping[str, Any], profile: Profile) -> None:
    budget = body.get("monthly_budget", profile.monthly_budget)
    currency = body.get("reporting_currency", profile.reporting_currency)
    digits = currency_digits()[currency]
    is_asked = body.keys() & {"monthly_budget", "reporting_currency"}
    if is_asked and budget is not None and budget != round(budget, digits):
        raise errors.VALIDATION_ERROR(f"monthly_budget: {currency} has {digits} decimals")


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) else value


def _told(reading: Session, profile: Profile, caller: Principal) -> dict[str, Any]:
    return {
        **told(reading, [profile], caller)[0],
        "monthly_budget": profile.monthly_budget,
        "outcome_target": profile.outcome_target,
        "website": profile.website,
    }
