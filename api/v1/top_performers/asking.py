"""From what was asked, in a query or a body, to which ads are ranked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.v1.top_performers.queries import Wanted

FILTERS = ("min_spend", "objectives", "truth_grades", "outcome_kinds", "formats", "has_video")


def wanted(asked: Mapping[str, Any]) -> Wanted:
    """`window`, `limit` and whichever of `FILTERS` were sent."""
    return Wanted(asked["window"], asked["limit"], **{name: asked.get(name) for name in FILTERS})
