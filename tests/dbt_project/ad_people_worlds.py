"""Random worlds of ad touches over years: rare and frequent people, gaps longer than a window, days that change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from orchestration.app_sets import land_calendar
from tests.dbt_project.ad_people_reference import AdTouch
from tests.dbt_project.project import DEFAULTS, Project

SEEDS = range(3)
ZONES = ("America/New_York", "Pacific/Auckland", "UTC")
BEGIN = datetime(2023, 6, 1, tzinfo=UTC)
DAYS = 1_000
ADS = ("301", "302", "303", "unsynced_1", "unsynced_2", "abc")
NO_ADS: tuple[dict[str, Any], ...] = (
    {"campaign_id": "1"},
    {"ad_id": "{{ad.id}}"},
    {"ad_id": "Spring sale"},
    {"utm_source": "meta", "utm_content": "301"},
)
CHANNELS = ("web", "web", "social", "chatapp", "pagechat", "other")
ORIGINS = ("web", "web", "conversation_referral", "partner_ad_referral", "other")


def profile_id(seed: int) -> str:
    """The profile that world number `seed` is landed in."""
    return f"01900000-0000-7000-8000-0000000a{seed:04d}"


def land(project: Project) -> None:
    """Land every world, each as a profile of its own."""
    for seed in SEEDS:
        records, _ = world(seed)
        profile = {"profile_id": profile_id(seed), "time_zone": ZONES[seed]}
        project.land("profiles", [{**DEFAULTS, **profile}], profile_id=None, batch=profile_id(seed))
        land_calendar(project.lake, ZONES[seed])
        for dataset, rows in records.items():
            project.land(dataset, rows, profile_id=profile_id(seed))


def world(seed: int) -> tuple[dict[str, list[dict[str, Any]]], list[AdTouch]]:
    """The records of a world by data set, and the ad touches that they truly are."""
    random = Random(seed)
    records: dict[str, list[dict[str, Any]]] = {"touches": [], "conversions": []}
    truth: list[AdTouch] = []
    index = 0
    for person in range(40):
        # touches of one person lie hours apart, so that each is a touch of its own
        hours = random.sample(range(0, DAYS * 24, 3), random.choice((1, 1, 2, 5, 40)))
        if person % 5 == 0:
            busy = random.randrange(DAYS * 24)
            hours += [hour for hour in range(busy, busy + 60, 3) if all(abs(hour - other) > 2 for other in hours)]
        for hour in hours:
            index += 1
            _touch(random, records, truth, person=person, index=index, at=BEGIN + timedelta(hours=hour), seed=seed)
    return records, truth


def _touch(
    random: Random,
    records: dict[str, list[dict[str, Any]]],
    truth: list[AdTouch],
    *,
    person: int,
    index: int,
    at: datetime,
    seed: int,
) -> None:
    day = at.astimezone(ZoneInfo(ZONES[seed])).date()
    row: dict[str, Any] = {"person_key": f"k{person}", "occurred_at": at.isoformat()}
    ad, ts = random.choice(ADS), int(at.timestamp())
    kind = random.random()
    if kind < 0.1:
        told = {"conversion_key": f"c{index}", "conversion_type": "lead_created", "source": "crm"}
        own = {"ad_platform": "meta", "ad_id": ad, "touch_at": at.isoformat()}
        records["conversions"].append({**row, **told, **own})
        truth.append(AdTouch(person, ts, f"conversion:c{index}", day, "other", "other", ad))
        return
    channel, origin = random.choice(CHANNELS), random.choice(ORIGINS)
    row |= {"touch_key": f"t{index}", "channel": channel, "origin": origin}
    if kind < 0.25:
        records["touches"].append({**row, **random.choice(NO_ADS)})
        return
    records["touches"].append({**row, "ad_platform": "meta", "ad_id": ad})
    truth.append(AdTouch(person, ts, f"t{index}", day, channel, origin, ad))
