"""Decay units of a touch: the macro `decay_units` in the same operations, so that a path's units add up to its sum."""

from __future__ import annotations

import math

# of the macro exp_of_minus, highest power first
_COEFFICIENTS = (
    2.7620088445409746e-7,
    -2.763265575933203e-6,
    2.4801521295954376e-5,
    -1.984119061583585e-4,
    1.3888888917213717e-3,
    -8.333333367332009e-3,
    4.166666666662413e-2,
    -1.6666666666615607e-1,
    5.000000000000001e-1,
    -1.0000000000000013,
    1.0,
)


def decay_units(age_s: int, ln2_over_hl: float) -> int:
    """10^15 x 2^(-age / half-life), at least 1; `age_s` in seconds, `ln2_over_hl` is ln(2) over the half-life's."""
    return max(math.floor(exp_of_minus(age_s * ln2_over_hl) * 1e15 + 0.5), 1)


def exp_of_minus(y: float) -> float:
    """e^(-y) for y >= 0, to 3e-15 of itself, never below 2^-62; the same bits on every machine."""
    halvings = math.floor(y * 1.4426950408889634 + 0.5)
    rest = y - halvings * 6.931471805599453e-1
    value = 0.0
    for coefficient in _COEFFICIENTS:
        value = coefficient + rest * value
    return float(value / (1 << min(halvings, 62)))
