"""What each touch of one path gets: its weight under every model, and its part of the destination's cents.

The rules are those of docs/models.md. Weights are exact fractions of integers, cents integers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.served import MODELS

Touch = Mapping[str, Any]
Cents = Mapping[tuple[str, int], int]

_PARTS_PER_UNIT = 1_000_000


@dataclass(frozen=True)
class Share:
    """A weight of `units` / `total`; no units is no credit."""

    units: int
    total: int

    @property
    def weight(self) -> float:
        return self.units / self.total


def shares(touch: Touch) -> dict[str, Share]:
    """The touch's share of its path under each model; over the path they add up to exactly 1."""
    return {
        "last_touch": Share(int(touch["position"] == touch["p_last"]), 1),
        "first_touch": Share(int(touch["first_position"] == touch["p_first"]), 1),
        "linear": Share(1, touch["n"]),
        "time_decay": Share(touch["decay_units"], touch["s_dec"]),
        "last_non_direct": Share(int(touch["position"] == touch["p_lnd"]), 1),
    }


def values(conversion_id: str, touches: Sequence[Touch], cents: Cents) -> list[dict[str, int]]:
    """Minor units of each touch under each model: they add up to the destination's `cents`, to the unit."""
    parts: list[dict[str, int]] = [dict.fromkeys(MODELS, 0) for _ in touches]
    for (model, destination), amount in cents.items():
        places = [place for place, touch in enumerate(touches) if touch["destination_key"] == destination]
        weights = [shares(touches[place])[model].units for place in places]
        keys = [f"{conversion_id}:{touches[place]['touch_id']}" for place in places]
        for place, part in zip(places, largest_remainder(amount, weights, keys), strict=True):
            parts[place][model] = part
    return parts


def largest_remainder(amount: int, weights: Sequence[int], keys: Sequence[str]) -> list[int]:
    """`amount` over `weights` in whole units: floors first, what is left to the largest fractions, one unit each.

    Fractions are compared to 1e-6 of a unit; equal ones are ordered by the MD5 of their key.
    """
    total = sum(weights)
    parts = [amount * weight // total for weight in weights]

    def turn(place: int) -> tuple[int, str]:
        rest = amount * weights[place] % total
        rounded = (2 * rest * _PARTS_PER_UNIT + total) // (2 * total)
        return -rounded, hashlib.md5(keys[place].encode(), usedforsecurity=False).hexdigest()

    for place in sorted(range(len(parts)), key=turn)[: amount - sum(parts)]:
        parts[place] += 1
    return parts
