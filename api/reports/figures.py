"""The figures of a report: the queries of the API's own routes, all on one snapshot."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from api.models import Profile
from api.money import Unit
from api.served import ProfileFacts, Reader
from api.v1.analytics import queries as profile_queries
from api.v1.analytics import rows as profile_rows
from api.v1.campaigns import queries as entity_queries
from api.v1.campaigns import rows as entity_rows
from api.v1.top_performers import queries as leaderboard
from api.v1.top_performers.terms import LED_OVER
from api.v1.workspaces import pacing_queries, pacing_rows
from api.windows import DateRange, last_of_month

MODEL = "last_touch"
MOST_ROWS = 25

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Figures:
    """What a report tells: one window beside the one before it, its days, and its best entities of one level.

    `scores` are of the ads among them, by id: `composite_score`, `maturity_stage` and `score_date` of the newest 28
    days, which end with `scored_to` and are not the report's window. `pacing` is the month that the window ends in, as
    GET W/pacing tells it, and `month_days` its days: through the window's last day, or the last one with complete
    delivery if that is earlier. `has_foreign_budget` tells of a budget that is left out because of its currency.
    """

    window: DateRange
    before: DateRange
    current: Row
    previous: Row
    days: Sequence[Row]
    entities: Sequence[Row]
    entities_total: int
    currency: str
    digits: int
    delivery_through: date | None
    snapshot_id: str
    month: DateRange
    month_days: Sequence[Row]
    pacing: Row
    has_foreign_budget: bool
    scores: Mapping[str, Row]
    scored_to: date | None


def gather(
    reader: Reader, profile: ProfileFacts, window: DateRange, *, level: str, of: Profile, has_all: bool = False
) -> Figures:
    """Everything a report of the window may show; `level` is campaign or ad, `of` the profile with its budget.

    `has_all` is for a spreadsheet, which holds every entity of the level; else there are the best `MOST_ROWS`.
    """
    days = len(window.days())
    before = DateRange(window.date_from - timedelta(days=days), window.date_from - timedelta(days=1))
    previous, current = profile_queries.two_windows(reader, profile, MODEL, before, window)
    ranked = entity_queries.Slice(window, level, MODEL)
    most = sys.maxsize if has_all else MOST_ROWS
    found = entity_queries.ranked_page(reader, profile, ranked, most=most, after=None, campaign=None, ad_set=None)
    month = DateRange(window.date_to.replace(day=1), last_of_month(window.date_to))
    until = min(window.date_to, profile.delivery_through or window.date_to)
    pacing = _pacing(reader, profile, DateRange(month.date_from, window.date_to), month, of)
    scored = _scored(reader, profile, [row["platform_id"] for row in found]) if level == "ad" else []
    return Figures(
        window=window,
        before=before,
        current=profile_rows.window_figures(window, current, profile.digits),
        previous=profile_rows.window_figures(before, previous, profile.digits),
        days=_days(reader, profile, window),
        entities=[entity_rows.level_row(row, profile.digits, level, None) for row in found],
        entities_total=found[0]["rows_total"] if found else 0,
        currency=profile.currency,
        digits=profile.digits,
        delivery_through=profile.delivery_through,
        snapshot_id=reader.snapshot_id,
        month=month,
        month_days=_days(reader, profile, DateRange(month.date_from, until)) if until >= month.date_from else [],
        pacing=pacing,
        has_foreign_budget=of.monthly_budget is not None and pacing["budget"] is None,
        scores={
            ad["entity_id"]: {
                "composite_score": ad["score"],
                "maturity_stage": ad["maturity_stage"],
                "score_date": ad["score_date"],
            }
            for ad in scored
        },
        scored_to=max((ad["score_date"] for ad in scored), default=None),
    )


def has_any(reader: Reader, profile: ProfileFacts, window: DateRange) -> bool:
    """Whether anything was spent or happened in the window."""
    found = profile_queries.by_day(reader, profile, MODEL, window).values()
    return any(part.minor or part.payments or part.outcomes for sums in found for part in sums.parts.values())


def _pacing(reader: Reader, profile: ProfileFacts, so_far: DateRange, month: DateRange, of: Profile) -> Row:
    through = profile.delivery_through and min(profile.delivery_through, so_far.date_to)
    facts = pacing_queries.Facts(
        profile.profile_key, of.id, profile.time_zone, profile.currency, profile.digits, through, profile.data_as_of
    )  # fmt: skip
    sums = pacing_queries.sums_of(reader, [facts], so_far).get(facts.profile_key, pacing_queries.Sums())
    return pacing_rows.row(pacing_rows.paced(of, facts, sums, month), month)


def _scored(reader: Reader, profile: ProfileFacts, ids: Sequence[str]) -> list[dict[str, Any]]:
    # an id may be several ads on as many platforms
    of = leaderboard.Wanted(LED_OVER, most=len(ids) * 10, ad_external_ids=ids)
    units = {profile.profile_key: Unit.own(profile.digits)}
    return [one.ad for one in leaderboard.ranked(reader, units, of)]


def _days(reader: Reader, profile: ProfileFacts, window: DateRange) -> list[Row]:
    found = profile_queries.by_day(reader, profile, MODEL, window)
    return [profile_rows.day_row(day, found.get(day, profile_queries.Sums()), profile.digits) for day in window.days()]
