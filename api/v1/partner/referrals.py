"""Ad referrals of conversations that were not seen live: all of a request are taken, or none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.customers import of_nobody
from api.hooks.chat_messages import outcome_key
from api.models import IngestedRecord
from api.served import Reader, profile_facts
from api.v1.events.ingest import accept
from api.warehouse_ids import uuid_v8

DATASET = "ad_referrals"

_ADS = """
select distinct platform, platform_id from entities
where profile_key = $profile_key and level = 'ad' and platform_id = any($ids)
"""

Referral = Mapping[str, Any]


def require_known_ads(reader: Reader | None, profile_id: str, referrals: Sequence[Referral]) -> None:
    """422 unknown_ad, naming the first referral whose ad is neither synced nor in the history of delivery."""
    known = _ads(reader, profile_id, {one["ad_id"] for one in referrals})
    for index, one in enumerate(referrals):
        named = {(platform, ad_id) for platform, ad_id in known if ad_id == one["ad_id"]}
        if not any(one["platform"] in {None, platform} for platform, _ in named):
            raise errors.UNKNOWN_AD(f"referrals[{index}].ad_id: neither synced nor ever delivered.")


def _ads(reader: Reader | None, profile_id: str, ids: Collection[str]) -> set[tuple[str, str]]:
    facts = profile_facts(reader, profile_id) if reader else None
    if reader is None or facts is None:
        return set()
    return set(reader.rows(_ADS, {"profile_key": facts.profile_key, "ids": list(ids)}))


def only_references(referrals: Sequence[Referral]) -> list[tuple[int, str]]:
    """Index and external_ref of the referrals that name somebody by reference alone."""
    return [
        (index, one["customer"]["external_ref"])
        for index, one in enumerate(referrals)
        if not one["customer"]["email"] and not one["customer"]["phone"]
    ]


def require_known_references(session: Session, named: Sequence[tuple[int, str]], published: Collection[str]) -> None:
    """422 unknown_customer_ref, naming the first of these referrals whose reference nobody has."""
    unknown = of_nobody(session, {reference for _, reference in named}, published=published)
    for index, reference in named:
        if reference in unknown:
            raise errors.UNKNOWN_CUSTOMER_REF(f"referrals[{index}].customer.external_ref: nobody has it.")


def take(session: Session, profile_id: str, referrals: Sequence[Referral]) -> list[dict[str, Any]]:
    """Take them in order: {referral_id, status, touch_id} each; 409 when an id came with other content."""
    live = _seen_live(session, profile_id, {one["conversation_id"] for one in referrals})
    return [
        _take(session, profile_id, index, one, one["conversation_id"] in live) for index, one in enumerate(referrals)
    ]


def _take(session: Session, profile_id: str, index: int, one: Referral, is_live: bool) -> dict[str, Any]:
    if is_live:
        return {"referral_id": one["referral_id"], "status": "superseded", "touch_id": None}
    outcome = accept(session, profile_id=profile_id, dataset=DATASET, records=[_record(one)])
    if outcome.conflicts:
        raise errors.IDEMPOTENCY_KEY_CONFLICT(f"referrals[{index}].referral_id: came with other content before.")
    for wrong in outcome.rejected:
        # the body names somebody, so only the identifiers of people who were erased are gone
        told = f"{wrong.field}: {wrong.reason}" if wrong.field else "customer: nothing may be kept of whom it names."
        raise errors.VALIDATION_ERROR(f"referrals[{index}].{told}")
    touch_id = uuid_v8(profile_id, "touch", f"conversation:{one['conversation_id']}")
    status = "accepted" if outcome.accepted else "duplicate"
    return {"referral_id": one["referral_id"], "status": status, "touch_id": touch_id}


def _record(one: Referral) -> dict[str, Any]:
    customer = one["customer"]
    record = {
        **{name: one[name] for name in ("referral_id", "conversation_id", "channel", "ad_id", "click_id")},
        "occurred_at": one["occurred_at"].isoformat(),
        "ad_platform": one["platform"],
        "external_id": customer["external_ref"],
        "email": customer["email"],
        "phone": customer["phone"],
    }
    return {name: value for name, value in record.items() if value is not None}


def _seen_live(session: Session, profile_id: str, conversations: Collection[str]) -> set[str]:
    # found by their keys: the referrals of a profile have those of messages, and all of them would be read
    keys = {outcome_key(one): one for one in conversations}
    outcomes = sa.select(IngestedRecord.record_key).where(
        IngestedRecord.profile_id == profile_id,
        IngestedRecord.dataset == "conversions",
        IngestedRecord.record_key.in_(list(keys)),
    )
    begun = {keys[one] for one in session.scalars(outcomes)}
    if not begun:
        return set()
    conversation = IngestedRecord.record["conversation_id"].as_string()
    chosen = sa.select(conversation).where(
        IngestedRecord.profile_id == profile_id,
        IngestedRecord.dataset == DATASET,
        IngestedRecord.record["seen_live"].as_boolean(),
        conversation.in_(list(begun)),
    )
    return set(session.scalars(chosen))
