"""The gate's figures the plain way: pair by pair and place by place, with repeated rows written out."""

from __future__ import annotations

import math
from collections.abc import Iterator

from orchestration.ranking.gate import CUT, Judged


def auc(rows: Judged, times: dict[int, int]) -> float:
    """Share of pairs in one group and one third of its exposure whose score agrees, each counted as often as drawn."""
    agree, pairs = 0.0, 0
    third = _thirds(rows)
    for i in range(len(rows)):
        for j in range(len(rows)):
            if rows.top[i] and not rows.top[j] and rows.group[i] == rows.group[j] and third[i] == third[j]:
                weight = times[int(rows.ad[i])] * times[int(rows.ad[j])]
                pairs += weight
                if rows.score[i] > rows.score[j]:
                    agree += weight
                elif rows.score[i] == rows.score[j]:
                    agree += weight / 2
    return agree / pairs


def lift(rows: Judged, times: dict[int, int]) -> float:
    """Mean over groups of (DCG@5 - its mean over random orders) / the best possible."""
    lifts = []
    for members in _groups(rows):
        listed = [i for i in members for _ in range(times[int(rows.ad[i])])]
        gains = [float(rows.gain[i]) for i in sorted(listed, key=lambda i: -rows.score[i])]
        if not any(gains):
            continue
        by_chance = sum(gains) / len(gains) * sum(1 / math.log2(place + 2) for place in range(min(CUT, len(gains))))
        lifts.append((_dcg(gains) - by_chance) / _dcg(sorted(gains, reverse=True)))
    return sum(lifts) / len(lifts)


def _dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:CUT]))


def _groups(rows: Judged) -> Iterator[list[int]]:
    for group in sorted(set(rows.group.tolist())):
        yield [i for i in range(len(rows)) if rows.group[i] == group]


def _thirds(rows: Judged) -> dict[int, int]:
    third = {}
    for members in _groups(rows):
        ordered = sorted(members, key=lambda i: (rows.exposure[i], rows.ad[i]))
        third |= {i: 3 * place // len(ordered) for place, i in enumerate(ordered)}
    return third
