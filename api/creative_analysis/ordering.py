"""Asking for an analysis: who may ask how often, and when a repeat is answered with the job there is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import audit, db, rate_limit
from api.creative_analysis.findings import Creative
from api.models import CreativeAnalysis, Profile

CALLS = rate_limit.Bucket("analysis_calls_hourly", limit=30, window=3600 * rate_limit.SECOND)
PER_PROFILE, PER_ACCOUNT = 20, 100
REPEAT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Shown:
    """What an ad shows: the ad by both its ids, its creative, and the hash that names this state of it."""

    ad_id: str
    ad_external_id: str
    creative_hash: str
    creative: Creative


@dataclass(frozen=True, slots=True)
class Refused:
    """Why no analysis was begun, as a reason of rate_limit_exceeded, and in how many seconds one may be."""

    reason: str
    retry_after: int


@dataclass(frozen=True, slots=True)
class Ordered:
    """The job, and whether it was there already."""

    job: CreativeAnalysis
    reused: bool


def order(
    url: str, *, profile_id: str, account: str, shown: Shown, by: audit.Actor, at: datetime | None = None
) -> Ordered | Refused:
    """The analysis of what the ad shows: the one of the last 24 hours that did not fail, or a new one.

    A new one counts in the hourly calls of `account` and in the analyses of profile and account per UTC day; a repeat
    counts nowhere. In a transaction of its own: a call that the day's allowance refuses has still been a call.
    """
    with db.transaction(url) as session:
        # whoever asks for the same profile waits here, and then finds the job; the same credential's calls about
        # other profiles wait at its bucket
        session.get_one(Profile, profile_id, with_for_update={"key_share": True})
        at = at or db.now()
        found = _repeat(session, profile_id, shown, at)
        refused = None if found else _called(session, account) or _spent(session, profile_id, account, at)
        if refused:
            return refused
        job = found or _begin(session, profile_id, account, shown, at)
        about = audit.target("creative_analysis", job.id)
        after = {"ad_external_id": shown.ad_external_id, "creative_hash": shown.creative_hash}
        attempt = audit.Attempt("creative_analysis.requested", {"target": about, "after": after})
        audit.record(session, by, attempt, outcome="no_change" if found else "done")
        return Ordered(job, reused=found is not None)


def call(url: str, *, account: str) -> Refused | None:
    """Count one call that came to nothing: about an ad that is unknown or shows nothing."""
    with db.transaction(url) as session:
        return _called(session, account)


def _repeat(session: Session, profile_id: str, shown: Shown, at: datetime) -> CreativeAnalysis | None:
    newest = sa.select(CreativeAnalysis).where(
        CreativeAnalysis.profile_id == profile_id,
        CreativeAnalysis.ad_id == shown.ad_id,
        CreativeAnalysis.creative_hash == shown.creative_hash,
        CreativeAnalysis.status != "failed",
        CreativeAnalysis.requested_at > at - REPEAT,
    )
    return session.scalar(newest.order_by(CreativeAnalysis.requested_at.desc(), CreativeAnalysis.id.desc()).limit(1))


def _called(session: Session, account: str) -> Refused | None:
    bucket = f"{account}:{CALLS.reason}"
    charged = rate_limit.charge(session, bucket, units=1, limit=CALLS.limit, window=CALLS.window)
    return None if charged.retry_after is None else Refused(CALLS.reason, charged.retry_after)


def _spent(session: Session, profile_id: str, account: str, at: datetime) -> Refused | None:
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    left = -(-(midnight + timedelta(days=1) - at) // timedelta(seconds=1))
    for whose, limit, reason in (
        (CreativeAnalysis.profile_id == profile_id, PER_PROFILE, "analysis_daily_profile"),
        (CreativeAnalysis.account == account, PER_ACCOUNT, "analysis_daily_key"),
    ):
        of_today = sa.select(sa.func.count()).where(whose, CreativeAnalysis.requested_at >= midnight)
        if (session.scalar(of_today) or 0) >= limit:
            return Refused(reason, left)
    return None


def _begin(session: Session, profile_id: str, account: str, shown: Shown, at: datetime) -> CreativeAnalysis:
    job = CreativeAnalysis(
        profile_id=profile_id,
        account=account,
        ad_id=shown.ad_id,
        ad_external_id=shown.ad_external_id,
        creative_hash=shown.creative_hash,
        creative=shown.creative.told(),
        status="queued",
        requested_at=at,
        next_attempt_at=at,
    )
    session.add(job)
    session.flush()
    return job
