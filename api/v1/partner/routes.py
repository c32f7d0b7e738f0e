"""POST /partner/ad-referrals."""

from __future__ import annotations

from collections import Counter
from typing import Any

from api import auth, context
from api.auth import Kind
from api.customers import Directory
from api.guard import MEBIBYTE, guarded
from api.http import Blueprint
from api.scopes import Scope
from api.snapshot import snapshots
from api.v1.partner import referrals
from api.v1.partner.schemas import ReferralsBody, ReferralsOutcome
from api.writing import idempotent, session

bp = Blueprint("partner", __name__, description="What partners hand over in bulk.")


@bp.route("/partner/ad-referrals", methods=["POST"])
@guarded(scope=Scope.EVENTS_WRITE, kinds={Kind.API_KEY}, max_body=2 * MEBIBYTE)
@bp.arguments(ReferralsBody)
@idempotent()
@bp.response(202, ReferralsOutcome)
def hand_over_referrals(body: dict[str, Any]) -> dict[str, Any]:
    """Hand over ad referrals of conversations that were not seen live

    All or nothing. A referral is a touch only; the conversation's outcome is an event with the same conversation_id.
    """
    given, profile_id = body["referrals"], auth.current().profile.id
    named = referrals.only_references(given)
    with snapshots(context.settings()).reader() as reader:
        referrals.require_known_ads(reader, profile_id, given)
        published = Directory(reader, profile_id).references([reference for _, reference in named])
    referrals.require_known_references(session(), named, published)
    outcomes = referrals.take(session(), profile_id, given)
    counts = Counter(one["status"] for one in outcomes)
    return {
        "accepted": counts["accepted"],
        "duplicates": counts["duplicate"],
        "superseded": counts["superseded"],
        "referrals": outcomes,
    }
