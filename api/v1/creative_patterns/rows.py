"""From counts to the answers: what is shown, in which order, with which verdict."""

from __future__ import annotations

from typing import Any

from api.money import ratio
from api.v1.creative_patterns.queries import DIMENSIONS, Counted, Kind
from api.v1.creative_patterns.statistics import FEWEST_JUDGED, Tally, is_shown, verdicts

# archetypes are rare: each that ran is told, and judged from five ads on
FEWEST_OF_ARCHETYPE = 1


def archetypes(found: Counted) -> list[dict[str, Any]]:
    """One row per hook, format and angle."""
    return [
        {
            "archetype_key": "|".join(kind.name),
            **dict(zip(("hook_type", "creative_format", "primary_angle"), kind.name, strict=True)),
            "label": ", ".join(map(_words, kind.name)),
            "n_ads": kind.tally.n,
            "n_winners": kind.tally.wins,
            "n_profiles": kind.tally.profiles,
            **_rates(kind.tally),
            "verdict": verdict,
            "exemplar_ad_external_ids": list(kind.exemplars),
        }
        for kind, verdict in _judged(found, FEWEST_OF_ARCHETYPE)
    ]


def patterns(found: Counted, fewest: int) -> list[dict[str, Any]]:
    """One row per pair of values of two dimensions with at least `fewest` ads."""
    return [
        {
            "pattern_dim": kind.name[0],
            "pattern_value": "|".join(kind.name[1:]),
            "pattern_label": " + ".join(map(_words, kind.name[1:])),
            **_row(kind, verdict),
        }
        for kind, verdict in _judged(found, fewest)
    ]


def dimensions(found: Counted) -> list[dict[str, Any]]:
    """Every dimension with its values of at least five ads, all of them judged together."""
    judged = _judged(found, FEWEST_JUDGED)
    return [
        {
            "dimension": name,
            "values": [
                {"value": kind.name[1], **_row(kind, verdict)} for kind, verdict in judged if kind.name[0] == name
            ],
        }
        for name in DIMENSIONS
    ]


def _judged(found: Counted, fewest: int) -> list[tuple[Kind, str]]:
    """The kinds that are shown, the surest winners first."""
    shown = [one for one in found.kinds if is_shown(one.tally, fewest=fewest, included=found.included)]
    judged = zip(shown, verdicts([one.tally for one in shown]), strict=True)
    return sorted(judged, key=lambda one: (-one[0].tally.interval[0], -one[0].tally.n, one[0].name))


def _row(kind: Kind, verdict: str) -> dict[str, Any]:
    return {
        "sample_n": kind.tally.n,
        "winner_n": kind.tally.wins,
        "n_profiles": kind.tally.profiles,
        **_rates(kind.tally),
        "verdict": verdict,
        "exemplar_ad_external_ids": list(kind.exemplars),
    }


def _rates(tally: Tally) -> dict[str, Any]:
    low, high = tally.interval
    baseline = tally.baseline
    return {
        "win_rate": round(tally.win_rate, 4),
        "raw_win_rate": ratio(tally.wins, tally.n),
        "workspace_baseline_win_rate": round(baseline, 4),
        "lift_vs_workspace": round(tally.win_rate / baseline - 1, 8) if baseline else None,
        "confidence_interval_low": round(low, 4),
        "confidence_interval_high": round(high, 4),
    }


def _words(value: str) -> str:
    return value.replace("_", " ")
