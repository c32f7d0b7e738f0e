"""Weights and money of the five models, in exact fractions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from sandbox.people import Touch

MODELS = ("first_touch", "last_touch", "linear", "time_decay", "last_non_direct")


def weights(model: str, path: Sequence[Touch], at: int, half_life: int) -> list[Fraction]:
    """One weight per touch of a non-empty path for an outcome at second `at`; they sum to 1.

    time_decay's powers of two are taken to 40 digits and then summed exactly.
    """
    if model == "linear":
        return [Fraction(1, len(path))] * len(path)
    if model == "time_decay":
        return _decayed([at - touch.at for touch in path], half_life)
    winner = _winner(model, path)
    return [Fraction(touch is winner) for touch in path]


def _winner(model: str, path: Sequence[Touch]) -> Touch:
    if model == "first_touch":
        return min(path, key=lambda touch: (touch.at, touch.is_direct, touch.key.encode()))
    if model == "last_non_direct":
        path = [touch for touch in path if not touch.is_direct] or path
    return max(path, key=lambda touch: (touch.at, not touch.is_direct, touch.key.encode()))


def _decayed(ages: Sequence[int], half_life: int) -> list[Fraction]:
    youngest = min(ages)
    with localcontext() as context:
        context.prec = 40
        raw = [Fraction(Decimal(2) ** (Decimal(youngest - age) / half_life)) for age in ages]
    total = sum(raw)
    return [part / total for part in raw]


def split(amount: int, parts: Sequence[Fraction], names: Sequence[str], outcome_id: str) -> list[int]:
    """`amount` minor units over `parts` by largest remainder; equal remainders go by md5 of outcome and name."""
    exact = [part * amount for part in parts]
    whole = [value.__floor__() for value in exact]

    def rank(index: int) -> tuple[Fraction, str]:
        remainder = round(exact[index] - whole[index], 6)
        tie = hashlib.md5(f"{outcome_id}:{names[index]}".encode(), usedforsecurity=False).hexdigest()
        return -remainder, tie

    for index in sorted(range(len(parts)), key=rank)[: amount - sum(whole)]:
        whole[index] += 1
    return whole
