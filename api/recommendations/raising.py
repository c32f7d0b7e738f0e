"""Each new snapshot is looked at once: recommendations are opened, renewed, superseded and expired by its figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db
from api.models import Profile, Recommendation, RecommendationLook
from api.money import amount
from api.one_by_one import Round, one_by_one
from api.recommendations.facts import WINDOW, running_ads
from api.recommendations.rules import KINDS, Ad, called_for
from api.served import profile_facts
from api.snapshot import snapshots
from api.webhooks.telling import recommendation_opened
from touchledger.settings import Settings

# how long what was decided about an ad is not suggested again, and how long a suggestion stands unconfirmed
QUIET = LIFE = timedelta(days=14)
# in hundredths; a larger step sets the platform's learning back, and half is the most that is let through at all
STEP = 20
AT_ONCE = 20


def raise_due(settings: Settings, going_round: Round | None = None) -> int:
    """Look at the current snapshot for a few profiles that it was not looked at for; how many those were.

    Which ones `going_round` tells, the first ones without it.
    """
    expire(settings)
    with snapshots(settings).reader() as reader:
        if reader is None:
            return 0
        snapshot_id = reader.snapshot_id
    unseen = (going_round or Round()).turn(lambda after: _unseen(settings, snapshot_id, after))
    return one_by_one("raise_recommendations", {one: one for one in unseen}, lambda one: _look_at(settings, one))


def expire(settings: Settings) -> None:
    """Close what no snapshot has confirmed for two weeks."""
    overdue = (Recommendation.status == "open", Recommendation.expires_at <= db.now())
    with db.transaction(settings.operational_url, durable=False) as session:
        if session.scalar(sa.select(sa.func.count()).select_from(Recommendation).where(*overdue)):
            session.execute(sa.update(Recommendation).where(*overdue).values(status="expired"))


def _unseen(settings: Settings, snapshot_id: str, after: str) -> list[str]:
    looked = sa.select(RecommendationLook.profile_id).where(RecommendationLook.snapshot_id == snapshot_id)
    wanted = sa.select(Profile.id).where(Profile.archived_at.is_(None), Profile.id > after, Profile.id.not_in(looked))
    with db.transaction(settings.operational_url, durable=False) as session:
        return list(session.scalars(wanted.order_by(Profile.id).limit(AT_ONCE)))


def _look_at(settings: Settings, profile_id: str) -> int:
    with snapshots(settings).reader() as reader:
        if reader is None:
            return 0
        facts = profile_facts(reader, profile_id)
        ads = running_ads(reader, facts) if facts else None
        _look(settings, profile_id, reader.snapshot_id, ads, facts.digits if facts else 0)
    return 1


def _look(settings: Settings, profile_id: str, snapshot_id: str, ads: Sequence[Ad] | None, digits: int) -> None:
    with db.transaction(settings.operational_url) as session:
        # two workers at once, or an archive: one after the other
        profile = session.get_one(Profile, profile_id, with_for_update={"key_share": True})
        look = session.get(RecommendationLook, profile_id)
        if profile.archived_at is not None or (look is not None and look.snapshot_id == snapshot_id):
            return
        session.merge(RecommendationLook(profile_id=profile_id, snapshot_id=snapshot_id, looked_at=db.now()))
        # a snapshot built before the profile was says nothing about it
        if ads is not None:
            _settle(session, profile, ads, digits, db.now())


def _settle(session: Session, profile: Profile, ads: Iterable[Ad], digits: int, at: datetime) -> None:
    of_profile = sa.select(Recommendation).where(Recommendation.profile_id == profile.id)
    standing = {row.entity_id: row for row in session.scalars(of_profile.where(Recommendation.status == "open"))}
    decided = of_profile.where(Recommendation.decided_at > at - QUIET)
    quiet = {(row.entity_id, row.kind) for row in session.scalars(decided)}
    for ad in ads:
        holding = [kind for kind in called_for(ad) if (ad.entity_id, kind) not in quiet]
        before, wanted = standing.pop(ad.entity_id, None), next(iter(holding), None)
        if before is not None and before.kind != wanted:
            is_stronger = wanted is not None and KINDS.index(wanted) < KINDS.index(before.kind)
            before.status = "superseded" if is_stronger else "expired"
            # before the next one opens: an ad has one open recommendation
            session.flush()
            before = None
        if wanted is not None:
            is_new = before is None
            if before is None:
                before = Recommendation(workspace_id=profile.workspace_id, profile_id=profile.id, kind=wanted)
                before.status, before.created_at = "open", at
                session.add(before)
            _describe(before, ad, digits, at)
            session.flush()
            if is_new:
                recommendation_opened(session, before)
    for gone in standing.values():
        gone.status = "expired"


def _describe(row: Recommendation, ad: Ad, digits: int, at: datetime) -> None:
    row.entity_id, row.entity_external_id, row.entity_name = ad.entity_id, ad.external_id, ad.name
    row.platform, row.score_window, row.expires_at = ad.platform, WINDOW, at + LIFE
    row.evidence = evidence(ad, digits)
    for name, value in _action(row.kind, ad).items():
        setattr(row, name, value)


def evidence(ad: Ad, digits: int) -> dict[str, Any]:
    """The figures that the rules looked at; no text of the ad's."""
    attention, clicks = ad.layers.get("attention"), ad.layers.get("click_intent")
    return {
        "composite_score": None if ad.composite is None else round(ad.composite, 1),
        "maturity_stage": ad.stage,
        "primary_layer": ad.primary_layer,
        "primary_percentile": round(ad.primary.percentile) if ad.primary else None,
        "primary_confidence": ad.primary.confidence if ad.primary else None,
        "attention_percentile": round(attention.percentile) if attention else None,
        "click_intent_percentile": round(clicks.percentile) if clicks else None,
        "spend": amount(ad.spend_minor, digits),
        "spend_share": None if ad.share is None else round(ad.share, 4),
        "fair_share": None if ad.fair_share is None else round(ad.fair_share, 4),
        "fatigue_risk_tier": ad.fatigue_tier,
        "response_index": None if ad.response_index is None else round(ad.response_index, 4),
        "delivery_days": ad.delivery_days,
    }


def _larger(minor: int) -> int:
    """A step up, of whole hundreds or tens where the budget is: some currencies platforms take no finer."""
    step = minor * STEP // 100
    coarse = next((size for size in (100, 10) if minor % size == 0 and step >= size), 1)
    return minor + step - step % coarse


def _action(kind: str, ad: Ad) -> dict[str, Any]:
    none = dict.fromkeys(("action_level", "action_entity_id", "from_minor", "to_minor", "currency"))
    if kind == "pause":
        return {**none, "action_type": "pause", "action_level": "ad", "action_entity_id": ad.entity_id}
    budget = ad.budget
    if kind != "scale" or budget is None:
        return {**none, "action_type": "none"}
    return {
        "action_type": "change_budget",
        "action_level": budget.level,
        "action_entity_id": budget.entity_id,
        "from_minor": budget.minor,
        "to_minor": _larger(budget.minor),
        "currency": budget.currency,
    }
