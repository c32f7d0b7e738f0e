"""The leaderboard of several profiles: their own scores, which share one scale, and their money in one currency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from api import rates
from api.reading_across import Across
from api.v1.top_performers import queries, rows
from api.v1.top_performers.asking import wanted
from api.v1.top_performers.queries import Found, Wanted


@dataclass(frozen=True)
class Leaderboard:
    """Rows, and what they rest on: the day that all of them are scored to, and the oldest rate in use.

    `ranked` are the same ads as found; both dates and the version are null while nothing is scored.
    """

    rows: Sequence[dict[str, Any]]
    ranked: Sequence[Found]
    score_date: date | None
    config_version: int | None
    profiles_included: int
    rates_as_of: date | None

    def meta(self) -> dict[str, Any]:
        """What an answer tells about it."""
        return {
            "score_date": self.score_date,
            "config_version": self.config_version,
            "profiles_included": self.profiles_included,
            "rates_as_of": self.rates_as_of,
        }


EMPTY = Leaderboard((), (), None, None, 0, None)


def leaderboard(found: Across, currency: str, asked: Mapping[str, Any]) -> Leaderboard:
    """The best ads of the profiles, as `asked` (see `asking`), every amount in `currency`."""
    return _of(found, currency, wanted(asked))


def leaderboard_of(found: Across, currency: str, asked: Mapping[str, Any], ids: Sequence[str]) -> Leaderboard | None:
    """The same of the ads with these ids of their platforms; None when one of the ids is no ad that delivered."""
    # an id may be several ads: on two platforms, or in two profiles
    most = len(ids) * len(found.profiles) * 10
    named = _of(found, currency, Wanted(asked["window"], most, ad_external_ids=list(ids)))
    if set(ids) - {row["ad_external_id"] for row in named.rows}:
        return None
    return _of(found, currency, replace(wanted({**asked, "limit": most}), ad_external_ids=list(ids)))


def _of(found: Across, currency: str, which: Wanted) -> Leaderboard:
    conversion = rates.into(currency, found.reader, (one.currency for one in found.profiles))
    units = {one.profile_key: conversion.units[one.currency] for one in found.profiles}
    by_key = {one.profile_key: one for one in found.profiles}
    states = queries.states(found.reader, list(by_key), which.score_window)
    ranked = queries.ranked(found.reader, units, which)
    told = []
    for one in ranked:
        key = one.ad["profile_key"]
        whose = {"profile_id": by_key[key].profile_id, "profile_name": by_key[key].name}
        told.append({**whose, **rows.row(one, units[key])})
    return Leaderboard(
        told,
        ranked,
        min((one.score_date for one in states.values()), default=None),
        max((one.config_version for one in states.values()), default=None),
        sum(one.has_scored for one in states.values()),
        conversion.as_of,
    )
