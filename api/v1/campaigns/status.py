"""GET /campaigns/{id}/status."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api import ad_entities, ad_platforms, auth, context, db, errors
from api.ad_entities import Named
from api.ad_platforms import Found
from api.guard import guarded
from api.http import Blueprint
from api.scopes import Scope
from connectors.ad_platform import FINAL

bp = Blueprint("campaign_status", __name__, description="A campaign as its platform shows it now.")

_STATUS = {"description": "As the platform spells it: ACTIVE, PAUSED, ARCHIVED or DELETED at Meta."}
_BUDGET = {"description": "Minor units of currency; null where the campaign has no budget of this type."}


class CampaignStatus(Schema):
    """Asked of the platform with every call."""

    campaign_id = fields.UUID(required=True)
    platform = fields.String(required=True)
    platform_id = fields.String(required=True)
    name = fields.String(required=True, metadata={"description": "Its name at the platform."})
    status = fields.String(required=True, metadata=_STATUS)
    effective_status = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "What comes of it, as the platform spells it; null where it tells none."},
    )
    status_source = fields.String(
        required=True,
        metadata={
            "enum": ["live", "last_synced"],
            "description": "last_synced when the platform answered and told no status.",
        },
    )
    read_at = fields.DateTime(required=True, metadata={"description": "When the platform was asked."})
    last_synced_status = fields.String(
        required=True, allow_none=True, metadata={"description": "In the published figures; null if never synced."}
    )
    last_synced_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When its account was last read whole; null before the first time."},
    )
    can_pause = fields.Boolean(required=True, metadata={"description": "Whether its status lets it be paused."})
    can_resume = fields.Boolean(required=True, metadata={"description": "Whether its status lets it be resumed."})
    can_edit_budget = fields.Boolean(
        required=True,
        metadata={"description": "Whether it has a budget of its own, and a status that lets it be changed."},
    )
    daily_budget_minor = fields.Integer(required=True, allow_none=True, metadata=_BUDGET)
    lifetime_budget_minor = fields.Integer(required=True, allow_none=True, metadata=_BUDGET)
    currency = fields.String(required=True, metadata={"description": "The ad account's, ISO 4217."})


@bp.route("/campaigns/<path:campaign_id>/status")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.response(200, CampaignStatus)
def campaign_status(campaign_id: str) -> dict[str, Any]:
    """A campaign's status and budgets, asked of its platform now

    `campaign_id` is the service's id or the platform's. A malformed id is answered as an unknown one.
    """
    settings, profile_id = context.settings(), auth.current().profile.id
    target = ad_entities.named(settings, profile_id=profile_id, level="campaign", id_=campaign_id)
    found = ad_platforms.find(settings, profile_id=profile_id, target=target) if target else None
    if target is None or found is None:
        raise errors.CAMPAIGN_NOT_FOUND()
    return _told(profile_id, target, found)


def _told(profile_id: str, target: Named, found: Found) -> dict[str, Any]:
    state, connection = found.state, found.connection
    status = state.status or target.status
    if status is None:
        raise errors.PROVIDER_ERROR("The platform told no status, and none was ever synced.", reason="bad_response")
    is_final = state.is_final or status in FINAL
    has_budget = state.daily_budget_minor is not None or state.lifetime_budget_minor is not None
    return {
        "campaign_id": ad_entities.entity_id(profile_id, connection.provider, "campaign", state.platform_id),
        "platform": connection.provider,
        "platform_id": state.platform_id,
        "name": state.name,
        "status": status,
        "effective_status": state.effective_status,
        "status_source": "live" if state.status else "last_synced",
        "read_at": db.now(),
        "last_synced_status": target.status,
        "last_synced_at": connection.synced_at,
        "can_pause": status == "ACTIVE" and not is_final,
        "can_resume": status == "PAUSED" and not is_final,
        "can_edit_budget": has_budget and not is_final,
        "daily_budget_minor": state.daily_budget_minor,
        "lifetime_budget_minor": state.lifetime_budget_minor,
        "currency": state.currency,
    }
