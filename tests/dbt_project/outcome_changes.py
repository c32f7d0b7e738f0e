"""Outcomes of every kind, and a second landing that changes each in its own way and nothing else near it.

Money of a new day brings rates of the days around it, by which outcomes are looked at too: every case has ten days.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from orchestration.app_sets import land_calendar
from tests.dbt_project.project import DEFAULTS, Project

Record = dict[str, Any]
START = datetime(2026, 1, 1, 23, 30, tzinfo=UTC)
PROFILES: dict[str, Record] = {
    "crowds": {},
    "currency": {},
    "euro": {"currency": "EUR"},
    "events": {},
    "goals": {},
    "p": {},
    "people": {},
    "zone": {"time_zone": "UTC"},
    # the last by name, so that nobody gets another number when it is archived
    "zz": {},
}


def _on(case: int) -> str:
    return (START + timedelta(days=10 * case)).isoformat()


def _lead(key: str, case: int, **columns: Any) -> Record:
    return {"conversion_key": key, "occurred_at": _on(case), "conversion_type": "lead_created", **columns}


def _paid(ref: str, case: int, **columns: Any) -> Record:
    paid = {"conversion_type": "payment_received", "value": "10.00", "currency": "USD", "person_key": "k"}
    return {**_lead(ref, case), **paid, "payment_ref": f"x:{ref}", "source": "payments", **columns}


def _back(ref: str, case: int, **columns: Any) -> Record:
    back = {"conversion_type": "refund_issued", "value": "3.00", "currency": "USD", "refunds_payment_ref": f"x:{ref}"}
    return {**_lead(f"back {ref}", case), **back, **columns}


def _order(store: str, name: str, case: int, **columns: Any) -> Record:
    order = {"connection_ref": store, "order_id": name, "order_ref": name, "created_at": _on(case)}
    paid = {"updated_at": _on(case), "financial_status": "paid", "currency": "EUR", "total": "10.00"}
    return {**order, **paid, "person_key": "k", **columns}


def _rate(project: Project, case: int, rate: str) -> None:
    row = {"rate_date": _on(case)[:10], "base": "EUR", "quote": "USD", "rate": rate}
    project.land("fx_rates", [row], profile_id=None, batch=f"case{case}")


def _profiles(project: Project, **changed: Record) -> None:
    rows = [{**DEFAULTS, "profile_id": name, **own, **changed.get(name, {})} for name, own in PROFILES.items()]
    named = [{**DEFAULTS, "profile_id": name, **own} for name, own in changed.items() if name not in PROFILES]
    project.land("profiles", rows + named, profile_id=None)


def _goals(project: Project, profile: str, revenue_type: str, event: str) -> None:
    goal = {"profile_id": profile, "conversion_key": "trial", "revenue_type": revenue_type}
    project.land("goals", [{**goal, "attribution_eligible": True}], profile_id=None, batch=profile)
    named = {"profile_id": profile, "event_origin": "server", "event_name": event, "conversion_key": "trial"}
    project.land("goal_events", [named], profile_id=None, batch=profile)


def land(project: Project) -> None:
    """The history."""
    for zone in ("UTC", "America/New_York"):
        land_calendar(project.lake, zone)
    _profiles(project)
    for case in (4, 5, 14):
        _rate(project, case, "1.10")
    project.land(
        "conversions",
        [
            _lead("stays", 0, person_key="k"),
            _lead("changed", 1, person_key="k", value="5.00", currency="USD"),
            _paid("refunded", 3),
            _paid("euros", 4, currency="EUR"),
            _lead("deal", 4, value="5.00", currency="EUR"),
            _paid("mixed", 5),
            _back("mixed", 5, currency="EUR"),
            _paid("named", 6),
            _paid("ordered", 7, payment_ref=None, order_ref="O1", source="file"),
            _paid("renewed", 8),
            _paid("assigned", 10),
            _paid("abroad", 14),
            _paid("no rate", 13),
            _paid("failed", 15, order_ref="O2", payment_status="failed"),
            _back("by order", 15, refunds_payment_ref="order:O2"),
            _paid("of the first", 12, payment_ref=None, order_ref="O3", source="server_event"),
            _back("in total", 14, refunds_payment_ref="store:O4"),
            _lead("hers", 11, person_key="m1"),
            _lead("his", 11, person_key="m2"),
        ],
    )
    project.land("conversions", [_lead("goes", 2, person_key="k"), _paid("gone", 2)], batch="goes")
    project.land("conversions", [_paid("leaves", 12)], batch="leaves")
    shops = [("a", "O2", 15), ("b", "O3", 12), ("a", "O4", 14)]
    project.land("orders", [*(_order(*shop) for shop in shops), _order("a", "O5", 10, payment_ref="x:its own")])
    renewal = {"subscription_ref": "s", "sequence_no": 2, "billing_reason": "cycle"}
    project.land("recurring_payments", [{**renewal, "payment_ref": "x:renewed", "first_payment_ref": "x:first"}])
    for profile in ("currency", "zone", "zz"):
        leads = [_lead("lead", 3, person_key="k"), _lead("nobody", 3)]
        project.land("conversions", [_paid("paid", 3), *leads], profile_id=profile)
    for profile in ("events", "goals"):
        _goals(project, profile, "pipeline", "trial_start")
        began = _lead("began", 3, conversion_type="unmapped_event", event_name="trial_start", person_key="k")
        project.land("conversions", [began], profile_id=profile)
    visit = {"occurred_at": "2025-12-31T09:00:00Z", "channel": "web", "origin": "web"}
    for profile in PROFILES:
        touches = [{**visit, "touch_key": key, "person_key": key} for key in ("k", "m1", "m2", "payer")]
        project.land("touches", touches, profile_id=profile)


def change(project: Project) -> None:
    """One change of every kind."""
    (identifier,) = project.rows(
        "select i.identifier_id from marts.person_identifiers as i"
        " inner join intermediate.int_person_identifiers as n on i.person_key = n.person_key"
        " inner join intermediate.int_profiles as p on n.profile_key = p.profile_key"
        " where p.profile_id = 'p' and n.value = 'payer'"
    )
    project.land(
        "conversions",
        [
            _lead("late", 9, person_key="k"),
            _lead("changed", 1, person_key="k", value="6.00", currency="USD", updated_at="2026-05-20T00:00:00Z"),
            _back("refunded", 13),
            _back("abroad", 13, currency="EUR"),
            _back("no rate", 13, currency="GBP"),
            _paid("ours", 6, payment_ref="x:named", source="server_event"),
            _paid("order", 7, order_ref="O1"),
            _paid("first", 9),
            _paid("captured", 15, order_ref="O2"),
            _paid("cart", 10, order_ref="O5", source="server_event"),
        ],
        batch="later",
    )
    # the first store gets an order of the second one's name, and what was taken back comes into the total
    now = {"updated_at": "2026-05-20T00:00:00Z"}
    shops = [_order("a", "O3", 12), _order("a", "O4", 14, refunded_total="2.00", **now)]
    project.land("orders", shops, batch="later")
    project.land("conversions", [], batch="goes")
    for case in (4, 5):
        _rate(project, case, "1.20")
    assigned = {"profile_id": "p", "payment_ref": "x:assigned", "identifier_id": identifier[0]}
    project.land("payment_payers", [{**assigned, "assigned_at": "2026-05-20T00:00:00Z"}], profile_id=None)
    visit = {"occurred_at": "2026-05-20T09:00:00Z", "channel": "web", "origin": "web", "external_id": "both"}
    again = [{**visit, "touch_key": f"{key} again", "person_key": key} for key in ("m1", "m2")]
    project.land("touches", again, batch="later")
    _goals(project, "goals", "gross", "trial_start")
    _goals(project, "events", "pipeline", "trial_end")
    _profiles(
        project,
        currency={"currency": "EUR"},
        zone={"time_zone": "America/New_York"},
        zz={"is_active": False},
    )


def number_anew(project: Project) -> None:
    """A profile that comes before all others, as a payment goes."""
    _profiles(
        project,
        currency={"currency": "EUR"},
        zone={"time_zone": "America/New_York"},
        zz={"is_active": False},
        aa={},
    )
    project.land("conversions", [], batch="leaves")
