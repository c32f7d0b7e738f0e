"""A person whose every identifier and every place is a word that is found nowhere else, to see where such words go."""

from __future__ import annotations

from typing import Any

from orchestration.app_sets import land_calendar
from tests.dbt_project.project import DEFAULTS, Project

PROFILE = "01900000-0000-7000-8000-0000000ca4a7"
PERSON = {
    "person_key": "canary-person-key",
    "email": "canary.mail@example.com",
    "phone": "+12125550199",
    "anonymous_id": "canary-device",
    "external_id": "canary-external-id",
    "payment_customer_id": "canary-payer",
}
PLACES = {
    "referrer_host": "canary-referrer.example",
    "landing_host": "canary-landing.example",
    "session_id": "canary-session",
    "click_id": "canary-click",
    "country": "IS",
}
WORDS = (*PERSON.values(), *(value for name, value in PLACES.items() if name != "country"), "canary-first-name")


def land(project: Project) -> None:
    """Land one person's touches, a conversion, a payment and the person's own record."""
    project.land("profiles", [{**DEFAULTS, "profile_id": PROFILE, "time_zone": "UTC"}], profile_id=None, batch=PROFILE)
    land_calendar(project.lake, "UTC")
    person = {"person_key": PERSON["person_key"], "first_name": "canary-first-name", "email": PERSON["email"]}
    project.land("people", [person], profile_id=PROFILE)
    touches = [_touch(day, paid=day == 1) for day in (1, 2, 3)]
    project.land("touches", touches, profile_id=PROFILE)
    outcome = {"occurred_at": "2026-01-05T12:00:00.750Z", "source": "server_event", **PERSON}
    lead = {**outcome, "conversion_key": "lead-1", "conversion_type": "lead_created"}
    money = {"value": "99.99", "currency": "USD", "payment_ref": "x:canary-payment"}
    paid = {**outcome, **money, "conversion_key": "sale-1", "conversion_type": "payment_received"}
    project.land("conversions", [lead, paid], profile_id=PROFILE)


def _touch(day: int, *, paid: bool) -> dict[str, Any]:
    click = {"click_id_type": "gclid", "utm_source": "search", "utm_medium": "cpc", "utm_campaign": "spring"}
    places = PLACES if paid else {name: PLACES[name] for name in ("landing_host", "session_id", "country")}
    kind = click if paid else {"is_direct": True}
    seen = {"touch_key": f"t{day}", "occurred_at": f"2026-01-0{day}T12:00:00Z", "channel": "web", "origin": "web"}
    return {**seen, **PERSON, **places, **kind}
