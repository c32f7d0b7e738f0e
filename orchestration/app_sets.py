"""Sets the operational database hands to the pipeline: profiles, hosts, payers, what analyses found, and calendars."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date, datetime
from functools import cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from api.db import transaction
from api.models import CreativeAnalysis, PaymentPayer, Profile
from data_contracts.formats import currency_digits
from orchestration.goal_sets import land_goals
from orchestration.lake import Lake, Landing

DAY, HOUR = 86_400, 3_600
SOURCE = "app"
EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY = date(2000, 1, 1).toordinal() - EPOCH
LAST_DAY = date(2041, 1, 1).toordinal() - EPOCH

Stretch = tuple[int, int, int, int]


def land_app_sets(url: str, lake: Lake) -> list[Landing]:
    """Land profiles, their hosts and goals, payers and attributes of creatives whole, and `calendar` for every zone.

    An archived profile's row only says that it is no longer active.
    """
    with transaction(url) as session:
        profiles = session.scalars(sa.select(Profile).order_by(Profile.id)).all()
        rows = [_settings(profile) for profile in profiles]
        hosts = [host for profile in profiles if profile.archived_at is None for host in _hosts(profile)]
    landed = [
        lake.land(dataset=name, profile_id=None, source=SOURCE, batch=name, records=records)
        for name, records in (("profiles", rows), ("own_hosts", hosts))
    ]
    landed += [land_payers(url, lake), land_attributes(url, lake), *land_goals(url, lake)]
    return [*landed, *(land_calendar(lake, zone) for zone in sorted({row["time_zone"] for row in rows}))]


def land_payers(url: str, lake: Lake) -> Landing:
    """Land the payers that were assigned by hand, whole."""
    with transaction(url) as session:
        order = (PaymentPayer.profile_id, PaymentPayer.payment_ref)
        rows = [_payer(one) for one in session.scalars(sa.select(PaymentPayer).order_by(*order))]
    return lake.land(dataset="payment_payers", profile_id=None, source=SOURCE, batch="payment_payers", records=rows)


def land_attributes(url: str, lake: Lake) -> Landing:
    """Land what the newest analysis of each state of a creative found, whole."""
    done = sa.select(CreativeAnalysis).where(CreativeAnalysis.status == "succeeded")
    with transaction(url) as session:
        newest_last = done.order_by(CreativeAnalysis.finished_at, CreativeAnalysis.id)
        found = {(job.profile_id, job.creative_hash): job for job in session.scalars(newest_last)}
    rows = [_attributes(found[place]) for place in sorted(found)]
    name = "creative_attributes"
    return lake.land(dataset=name, profile_id=None, source=SOURCE, batch=name, records=rows)


def _attributes(job: CreativeAnalysis) -> dict[str, Any]:
    result = job.result or {}
    return {
        "profile_id": job.profile_id,
        "creative_hash": job.creative_hash,
        **{name: result.get(name) for name in ("hook_type", "creative_format", "cta_type", "primary_angle")},
        "offers": result.get("offers"),
        "analysed_at": job.finished_at,
    }


def _payer(payer: PaymentPayer) -> dict[str, Any]:
    return {
        "profile_id": payer.profile_id,
        "payment_ref": payer.payment_ref,
        "identifier_id": payer.identifier_id,
        "assigned_at": payer.assigned_at,
    }


def _settings(profile: Profile) -> dict[str, Any]:
    return {
        "profile_id": profile.id,
        "workspace_id": profile.workspace_id,
        "time_zone": profile.timezone,
        "currency": profile.reporting_currency,
        "currency_digits": currency_digits()[profile.reporting_currency],
        "lookback_days": profile.lookback_days,
        "half_life_days": profile.half_life_days,
        "inherit_recurring": profile.inherit_recurring,
        "settings_version": profile.settings_version,
        "is_active": profile.archived_at is None,
    }


def _hosts(profile: Profile) -> list[dict[str, str]]:
    named = sorted({*profile.own_domains, *profile.payment_hosts})
    return [{"profile_id": profile.id, "host": host} for host in named]


def land_calendar(lake: Lake, zone: str) -> Landing:
    """Land one zone's calendar; nothing is written while the zone's rules stay as they are."""
    records = (
        {
            "time_zone": zone,
            "utc_day": utc_day,
            "local_date": date.fromordinal(local_day + EPOCH),
            "starts_at": start,
            "ends_at": end,
        }
        for utc_day, local_day, start, end in stretches(zone)
    )
    return lake.land(
        dataset="calendar",
        profile_id=None,
        source=SOURCE,
        batch=zone.replace("/", "."),
        records=records,
        origin=_rules(zone),
    )


@cache
def _rules(zone: str) -> str:
    """Hash of the zone's calendar: every pull asks for it, and no process sees other rules than it began with."""
    return hashlib.sha256(repr(list(stretches(zone))).encode()).hexdigest()


def stretches(zone: str) -> Iterator[Stretch]:
    """(UTC day, local day, first second, second after the last) for every UTC day of 2000 to 2040, in order.

    Days are counted from 1970-01-01. Each second lies in exactly one stretch, also where clocks are turned.
    """
    info = ZoneInfo(zone)
    before = _offset(info, FIRST_DAY * DAY)
    for day in range(FIRST_DAY, LAST_DAY):
        after = _offset(info, (day + 1) * DAY)
        if before == after:
            yield from _cut(day, [(day * DAY, (day + 1) * DAY, before)])
        else:
            yield from _cut(day, _turned(info, day))
        before = after


def _offset(info: ZoneInfo, second: int) -> int:
    offset = datetime.fromtimestamp(second, info).utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0


def _turned(info: ZoneInfo, day: int) -> list[tuple[int, int, int]]:
    """The parts of a day with one offset each: zones turn their clocks on whole minutes, and once an hour."""
    turns = [day * DAY]
    for hour in range(day * DAY, (day + 1) * DAY, HOUR):
        before = _offset(info, hour)
        if _offset(info, hour + HOUR - 60) != before:
            turns.append(next(at for at in range(hour, hour + HOUR, 60) if _offset(info, at) != before))
        elif _offset(info, hour - 60) != before and hour > turns[0]:
            turns.append(hour)
    return [(at, until, _offset(info, at)) for at, until in pairwise([*turns, (day + 1) * DAY])]


def _cut(day: int, parts: list[tuple[int, int, int]]) -> Iterator[Stretch]:
    """Cut the parts at local midnight."""
    for start, end, offset in parts:
        at = start
        while at < end:
            local_day = (at + offset) // DAY
            until = min(end, (local_day + 1) * DAY - offset)
            yield day, local_day, at, until
            at = until
