"""The goals of every profile, as the pipeline counts events by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from api.db import transaction
from api.goals import Goal, goal_of_browser_event, goal_of_server_event, with_rows
from api.models import GoalRow, Profile
from orchestration.lake import Lake, Landing

SOURCE = "app"


def land_goals(url: str, lake: Lake) -> list[Landing]:
    """Land `goals`, which profiles defined themselves, and `goal_events`, the names that count, both whole."""
    with transaction(url) as session:
        live = session.scalars(sa.select(Profile.id).where(Profile.archived_at.is_(None)).order_by(Profile.id)).all()
        rows: dict[str, list[GoalRow]] = {}
        for row in session.scalars(sa.select(GoalRow)):
            rows.setdefault(row.profile_id, []).append(row)
        known = [(profile_id, with_rows(rows.get(profile_id, ()))) for profile_id in live]
    own = [one for profile_id, goals in known for one in _own(profile_id, goals)]
    events = [one for profile_id, goals in known for one in _events(profile_id, goals)]
    return [
        lake.land(dataset=name, profile_id=None, source=SOURCE, batch=name, records=records)
        for name, records in (("goals", own), ("goal_events", events))
    ]


def _own(profile_id: str, goals: Sequence[Goal]) -> Iterator[dict[str, Any]]:
    for goal in goals:
        if not goal.is_built_in:
            yield {
                "profile_id": profile_id,
                "conversion_key": goal.conversion_key,
                "revenue_type": goal.revenue_type,
                "attribution_eligible": goal.attribution_eligible,
            }


def _events(profile_id: str, goals: Sequence[Goal]) -> Iterator[dict[str, Any]]:
    names = sorted({name for goal in goals for name in goal.event_names})
    for origin, goal_of in (("server", goal_of_server_event), ("browser", goal_of_browser_event)):
        for name in names:
            if goal := goal_of(name, goals):
                yield {
                    "profile_id": profile_id,
                    "event_origin": origin,
                    "event_name": name,
                    "conversion_key": goal.conversion_key,
                }
