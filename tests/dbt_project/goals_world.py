"""A profile with goals of its own: one person came by an ad, and did something of every kind."""

from __future__ import annotations

from typing import Any

from orchestration.app_sets import land_calendar
from tests.dbt_project.project import DEFAULTS, Project

PROFILE = "01900000-0000-7000-8000-0000000060a1"
GOALS = (
    # conversion_key, revenue_type, attribution_eligible
    ("trial_started", "pipeline", True),
    ("deposit", "cash", True),
    ("gift_sent", "gross", True),
    ("ping_sent", "pipeline", False),
)
EVENTS = (
    ("server", "trial_start", "trial_started"),
    ("browser", "trial_start", "trial_started"),
    ("server", "deposit_paid", "deposit"),
    ("browser", "deposit_paid", "order_placed"),
    ("server", "gift", "gift_sent"),
    ("server", "ping", "ping_sent"),
)
ANN = {"email": "goals.ann@example.com"}


def land(project: Project) -> None:
    """Land the profile, its goals, one visit from campaign c1, and the events that came after it."""
    project.land("profiles", [{**DEFAULTS, "profile_id": PROFILE, "time_zone": "UTC"}], profile_id=None, batch=PROFILE)
    land_calendar(project.lake, "UTC")
    names = ("conversion_key", "revenue_type", "attribution_eligible")
    goals = [{"profile_id": PROFILE, **dict(zip(names, goal, strict=True))} for goal in GOALS]
    project.land("goals", goals, profile_id=None, batch=PROFILE)
    names = ("event_origin", "event_name", "conversion_key")
    events = [{"profile_id": PROFILE, **dict(zip(names, event, strict=True))} for event in EVENTS]
    project.land("goal_events", events, profile_id=None, batch=PROFILE)
    campaign = {"platform": "meta", "campaign_id": "c1", "ad_account_id": "a", "status": "ACTIVE", "name": "Spring"}
    project.land("campaigns", [campaign], profile_id=PROFILE)
    visit = {"touch_key": "t1", "occurred_at": "2026-01-01T12:00:00Z", "channel": "web", "origin": "web", **ANN}
    project.land("touches", [{**visit, "ad_platform": "meta", "campaign_id": "c1"}], profile_id=PROFILE)
    project.land("conversions", list(_conversions()), profile_id=PROFILE)


def _conversions() -> list[dict[str, Any]]:
    def event(key: str, kept: str, name: str | None, **columns: Any) -> dict[str, Any]:
        at = {"conversion_key": key, "occurred_at": "2026-01-02T12:00:00Z", "source": "server_event", **ANN}
        return {**at, "conversion_type": kept, "event_name": name, **columns}

    return [
        event("trial", "unmapped_event", "trial_start", value="50.00", currency="USD", answer_key="friend"),
        event("seen", "unmapped_event", "trial_start", event_origin="browser"),
        event("paid", "payment_received", "deposit_paid", value="20.00", currency="USD", payment_ref="x:1"),
        # the processor tells of the same payment, and is believed about its value
        event("pi_1", "payment_received", None, source="payments", value="19.00", currency="USD", payment_ref="x:1"),
        event("forged", "order_placed", "deposit_paid", event_origin="browser", value="99.00", currency="USD"),
        event("gift", "unmapped_event", "gift", value="7.00", currency="USD"),
        event("ping", "unmapped_event", "ping", value="7.00", currency="USD"),
        event("lead", "lead_created", "nobody_counts_this"),
        event("filed", "lead_created", None, source="crm"),
    ]
