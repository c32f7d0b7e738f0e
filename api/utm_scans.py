"""Scanning where a profile's ads lead and how their links are tagged: asked of the platforms, or of what was synced."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import ad_entities, ad_platforms, connections, db, errors, rate_limit, url_tags
from api.models import Connection, UtmScan
from api.models.connection import UNFINISHED
from api.money import ratio
from connectors.ad_platform import LinkedAd
from connectors.errors import OutOfTime
from touchledger.settings import Settings

SCANS = rate_limit.Bucket("utm_scans_hourly", limit=6, window=3600 * rate_limit.SECOND)
CACHED = rate_limit.Bucket("request_rate", limit=30, window=rate_limit.WINDOW)
FRESH = timedelta(minutes=10)
# seconds for all accounts of a profile together
BUDGET = 20.0
MOST_ADS = 200

Link = tuple[str, LinkedAd]


@dataclass
class Seen:
    """What a scan looked at: ads with their platforms, and the accounts that could not be looked at."""

    source: str
    links: list[Link] = field(default_factory=list)
    skipped: list[Connection] = field(default_factory=list)


def refresh(settings: Settings, *, profile_id: str, account: str, platform: str | None = None) -> dict[str, Any]:
    """The summary of a scan made now, or that of the last ten minutes, which costs nothing.

    `account` is whom the hourly allowance is kept for. Touches no database while platforms are asked, and leaves the
    summary before in place unless it finishes. Raises validation_error for a platform that the profile is not on,
    which costs nothing, rate_limit_exceeded, audit_timeout, connection_revoked and provider_error.
    """
    url = settings.operational_url
    with db.transaction(url) as session:
        found = _newest(session, profile_id, platform)
        # one of the future was made by a clock that has been set back since
        if found is not None and abs(db.now() - found.scanned_at) < FRESH:
            _charge(session, account, CACHED)
            return told(found, refreshed=False)
    accounts = _accounts(settings, profile_id, platform)
    with db.transaction(url) as session:
        _charge(session, account, SCANS)
    seen = _live(settings, accounts) if accounts else _synced(settings, profile_id, platform)
    scan = UtmScan(profile_id=profile_id, platform=platform, scanned_at=db.now())
    scan.summary = summary(profile_id, seen)
    with db.transaction(url) as session:
        session.execute(
            sa.delete(UtmScan).where(UtmScan.profile_id == profile_id, UtmScan.platform.is_not_distinct_from(platform))
        )
        session.add(scan)
    return told(scan, refreshed=True)


def last(settings: Settings, *, profile_id: str) -> dict[str, Any] | None:
    """The newest summary of all platforms, else that of one; None before the first."""
    order = UtmScan.platform.is_not(None), UtmScan.scanned_at.desc(), UtmScan.id.desc()
    with db.transaction(settings.operational_url, durable=False) as session:
        scans = sa.select(UtmScan).where(UtmScan.profile_id == profile_id)
        found = session.scalars(scans.order_by(*order).limit(1)).one_or_none()
    return told(found, refreshed=False) if found else None


def told(scan: UtmScan, *, refreshed: bool) -> dict[str, Any]:
    """A scan as its routes answer it."""
    when = {"scanned_at": scan.scanned_at, "next_refresh_at": scan.scanned_at + FRESH}
    return {"refreshed": refreshed, "platform": scan.platform, **when, **scan.summary}


def summary(profile_id: str, seen: Seen) -> dict[str, Any]:
    """What was found: figures, ads per check, and the ads concerned, worst first, at most `MOST_ADS`.

    An ad is ok without an error; warnings are listed and cost no health. health_pct = 100 x ok / scanned.
    """
    judged = [(platform, ad, _issues(platform, ad)) for platform, ad in seen.links]
    counts = Counter(check for *_, found in judged for check in found)
    broken = sum(1 for *_, found in judged if url_tags.is_error(found))
    ok = len(judged) - broken
    concerned = sorted((row for row in judged if row[2]), key=_worst_first)
    return {
        "source": seen.source,
        "ads_scanned": len(judged),
        "ads_ok": ok,
        "ads_with_issues": broken,
        "health_pct": ratio(100 * ok, len(judged)),
        "verdict": _verdict(ok, len(judged)),
        "checks": [
            {"check": check, "severity": severity, "ads": counts[check]}
            for check, severity in url_tags.SEVERITIES.items()
        ],
        "ads": [_row(profile_id, *row) for row in concerned[:MOST_ADS]],
        "ads_truncated": len(concerned) > MOST_ADS,
        "accounts_skipped": [
            {"connection_id": one.id, "name": one.display_name, "status": one.status} for one in seen.skipped
        ],
    }


def _newest(session: Session, profile_id: str, platform: str | None) -> UtmScan | None:
    chosen = sa.select(UtmScan).where(UtmScan.profile_id == profile_id, UtmScan.platform.is_not_distinct_from(platform))
    return session.scalars(chosen.order_by(UtmScan.scanned_at.desc(), UtmScan.id.desc()).limit(1)).one_or_none()


def _charge(session: Session, account: str, bucket: rate_limit.Bucket) -> None:
    name = f"{account}:utm:{bucket.reason}"
    charged = rate_limit.charge(session, name, units=1, limit=bucket.limit, window=bucket.window)
    if charged.retry_after is not None:
        wait = {"Retry-After": str(charged.retry_after)}
        raise errors.RATE_LIMIT_EXCEEDED(reason=bucket.reason, headers=wait)


def _accounts(settings: Settings, profile_id: str, platform: str | None) -> list[Connection]:
    """The accounts to look at; none where what was synced has to do.

    409 connection_revoked when all are lost, 422 for a platform that the profile is not on.
    """
    found = ad_platforms.accounts(settings, profile_id=profile_id, platform=platform)
    if platform and not found and not ad_entities.has_ads(settings, profile_id=profile_id, platform=platform):
        raise errors.VALIDATION_ERROR("platform: the profile has neither ads nor an ad account there.")
    begun = [one for one in found if one.token or one.status == "reconnect_required"]
    begun = [one for one in begun if one.status not in UNFINISHED]
    connections.usable(settings, begun)
    return begun


def _live(settings: Settings, accounts: list[Connection]) -> Seen:
    seen, ends_at = Seen("live"), time.monotonic() + BUDGET
    ready, lost = connections.usable(settings, accounts), None
    seen.skipped = [one for one in accounts if one not in ready]
    for connection in ready:
        try:
            with _in_time(), ad_platforms.asking(settings, connection, within=ends_at - time.monotonic()) as platform:
                seen.links += [(connection.provider, ad) for ad in platform.linked_ads()]
        except errors.ApiError as refusal:
            if refusal.code is not errors.CONNECTION_REVOKED:
                raise
            # a lost account is named, and does not keep the others from being looked at
            lost, connection.status = lost or refusal, "reconnect_required"
            seen.skipped.append(connection)
    if lost is not None and len(seen.skipped) == len(accounts):
        raise lost
    return seen


@contextmanager
def _in_time() -> Iterator[None]:
    """504 audit_timeout where the whole time was not enough."""
    try:
        yield
    except errors.ApiError as refusal:
        if isinstance(refusal.__cause__, OutOfTime):
            raise errors.AUDIT_TIMEOUT() from refusal
        raise


def _synced(settings: Settings, profile_id: str, platform: str | None) -> Seen:
    return Seen("last_synced", ad_entities.linked_ads(settings, profile_id=profile_id, platform=platform))


def _issues(platform: str, ad: LinkedAd) -> list[str]:
    return url_tags.issues(
        platform=platform, ad_id=ad.ad_id, landing_url=ad.landing_url, url_tags=ad.url_tags,
        is_asset_group=ad.is_asset_group,
    )  # fmt: skip


def _verdict(ok: int, scanned: int) -> str | None:
    if not scanned:
        return None
    return "healthy" if 100 * ok > 80 * scanned else "caution" if 100 * ok >= 50 * scanned else "poor"


def _worst_first(row: tuple[str, LinkedAd, Iterable[str]]) -> tuple[Any, ...]:
    platform, ad, found = row
    errors_found = sum(url_tags.SEVERITIES[check] == "error" for check in found)
    return -errors_found, -len(list(found)), ad.name, platform, ad.ad_id


def _row(profile_id: str, platform: str, ad: LinkedAd, found: list[str]) -> dict[str, Any]:
    return {
        "ad_id": ad_entities.entity_id(profile_id, platform, "ad", ad.ad_id),
        "ad_external_id": ad.ad_id,
        "ad_name": ad.name,
        "campaign_name": ad.campaign_name,
        "platform": platform,
        "issues": found,
        "url_tags": url_tags.shown(ad.url_tags),
        "landing_host": url_tags.host(ad.landing_url),
        "suggested_url_tags": url_tags.suggested(platform, is_asset_group=ad.is_asset_group),
    }
