"""Goals: the built-in ones, a profile's own, whose event a name is, and that history is asked for anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from api import db, goals
from api.models import AuditEntry, IngestedRecord, Profile, Recompute
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.api.v1.profiles.conftest import refusal
from tests.factories import accounts, served
from touchledger.settings import Settings

PATH = "/goals"
TRIAL: dict[str, Any] = {
    "display_name": "Trial begun",
    "conversion_key": "trial_started",
    "source_event_names": ["trial_start", "trial_begin", "trial_start"],
    "revenue_type": "pipeline",
}


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.CONVERSIONS_READ, Scope.GOALS_WRITE, Scope.EVENTS_WRITE])


def data(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.get_json()["data"]


def listed(key: Caller) -> dict[str, Any]:
    return {row["conversion_key"]: row for row in data(key.get(PATH))}


def test_every_profile_has_the_built_in_goals_without_a_row(key: Caller, profile: Profile) -> None:
    found = listed(key)
    assert list(found) == sorted(goal.conversion_key for goal in goals.BUILT_IN)
    assert found["payment_received"] == {
        "goal_id": goals.goal_id(profile.id, "payment_received"),
        "display_name": "Payment received",
        "conversion_key": "payment_received",
        "source_event_names": ["payment_received", "purchase", "invoice_paid"],
        "revenue_type": "cash",
        "attribution_eligible": True,
        "built_in": True,
    }
    assert found["order_placed"]["attribution_eligible"] is False


def test_a_goal_is_made_changed_and_deleted_and_history_is_asked_for_each_time(
    key: Caller, settings: Settings, profile: Profile
) -> None:
    before = profile.settings_version
    made = data(key.post(PATH, json=TRIAL), 201)
    assert made["source_event_names"] == ["trial_start", "trial_begin"]
    assert (made["attribution_eligible"], made["built_in"]) == (True, False)
    assert listed(key)["trial_started"] == made
    place = f"{PATH}/{made['goal_id']}"
    changed = data(key("PATCH", place, json={"revenue_type": "gross", "source_event_names": ["trial_begin"]}))
    assert changed == {**made, "revenue_type": "gross", "source_event_names": ["trial_begin"]}
    assert data(key("PATCH", place, json={"revenue_type": "gross"})) == changed
    assert data(key("DELETE", place)) == {"goal_id": made["goal_id"], "deleted": True}
    assert "trial_started" not in listed(key)
    assert refusal(key("DELETE", place)) == (404, "not_found", None)
    with db.transaction(settings.operational_url) as session:
        trail = session.execute(sa.select(AuditEntry.action, AuditEntry.outcome).order_by(AuditEntry.id)).all()
        assert session.scalars(sa.select(Recompute.status)).all() == ["queued"]
        now = session.get_one(Profile, profile.id)
        assert (now.goals_version, now.settings_version != before) == (3, True)
    done = [("goal.created", "done"), ("goal.updated", "done"), ("goal.updated", "no_change"), ("goal.deleted", "done")]
    assert [tuple(row) for row in trail] == done


def test_an_events_name_belongs_to_one_goal(key: Caller) -> None:
    taken = {**TRIAL, "source_event_names": ["trial_start", "purchase"]}
    assert refusal(key.post(PATH, json=taken)) == (409, "invalid_state", "event_name_taken")
    made = data(key.post(PATH, json=TRIAL), 201)
    assert refusal(key.post(PATH, json=TRIAL)) == (409, "invalid_state", "duplicate_name")
    lead = f"{PATH}/{listed(key)['lead_created']['goal_id']}"
    wanted = {"source_event_names": ["lead_created", "trial_start"]}
    assert refusal(key("PATCH", lead, json=wanted)) == (409, "invalid_state", "event_name_taken")
    data(key("PATCH", f"{PATH}/{made['goal_id']}", json={"source_event_names": ["trial_begin"]}))
    assert data(key("PATCH", lead, json=wanted))["source_event_names"] == ["lead_created", "trial_start"]


def test_built_in_goals_stay_and_keep_what_they_are_worth(key: Caller) -> None:
    place = f"{PATH}/{listed(key)['lead_created']['goal_id']}"
    assert refusal(key("DELETE", place)) == (409, "invalid_state", "goal_built_in")
    for body in ({"revenue_type": "cash"}, {"attribution_eligible": False}):
        assert refusal(key("PATCH", place, json=body)) == (409, "invalid_state", "goal_built_in")
    renamed = data(key("PATCH", place, json={"display_name": "Lead", "revenue_type": "pipeline"}))
    assert (renamed["display_name"], renamed["goal_id"]) == ("Lead", place.rpartition("/")[2])
    assert listed(key)["lead_created"] == renamed


def test_another_profiles_goals_are_not_found_and_not_listed(key: Caller, client: Any, settings: Settings) -> None:
    made = data(key.post(PATH, json=TRIAL), 201)
    other = accounts.profile(settings.operational_url, name="Other")
    scopes = [Scope.CONVERSIONS_READ, Scope.GOALS_WRITE]
    stranger = Caller(client, accounts.secret(settings.operational_url, other, scopes=scopes))
    assert "trial_started" not in listed(stranger)
    own_lead = listed(key)["lead_created"]["goal_id"]
    for goal_id in (made["goal_id"], own_lead):
        assert refusal(stranger("PATCH", f"{PATH}/{goal_id}", json={})) == (404, "not_found", None)
        assert refusal(stranger("DELETE", f"{PATH}/{goal_id}")) == (404, "not_found", None)


def test_goals_come_in_pages(key: Caller) -> None:
    data(key.post(PATH, json=TRIAL), 201)
    found, cursor = [], None
    while True:
        page = key.get(PATH, query_string={"limit": "4", **({"cursor": cursor} if cursor else {})}).get_json()
        found += [row["conversion_key"] for row in page["data"]]
        cursor = page["pagination"]["cursor"]
        if not page["pagination"]["has_next"]:
            break
    assert found == list(listed(key))
    assert len(found) == 9


@pytest.mark.parametrize(
    "wrong",
    [
        {"conversion_key": "x"},
        {"conversion_key": "Trial"},
        {"conversion_key": "refund_issued"},
        {"conversion_key": "unmapped_event"},
        {"source_event_names": []},
        {"source_event_names": ["two words"]},
        {"source_event_names": ["refund_issued"]},
        {"source_event_names": [f"e{n}" for n in range(51)]},
        {"revenue_type": "profit"},
        {"attribution_eligible": "yes"},
        {"display_name": " "},
    ],
)
def test_what_no_goal_can_be_is_refused(key: Caller, wrong: dict[str, Any]) -> None:
    assert refusal(key.post(PATH, json={**TRIAL, **wrong}))[:2] == (422, "validation_error")


def test_an_event_is_what_the_profiles_goals_make_of_it(key: Caller, settings: Settings) -> None:
    data(key.post(PATH, json=TRIAL), 201)
    data(key.post(PATH, json={**TRIAL, "conversion_key": "deposit", "source_event_names": ["deposit"]}
                  | {"revenue_type": "cash"}), 201)  # fmt: skip
    event = {"event_name": "trial_start", "anonymous_id": "a1"}
    assert data(key.post("/events", json=event), 202)["conversion_type"] == "trial_started"
    unpaid = key.post("/events", json={**event, "event_name": "deposit"})
    assert refusal(unpaid)[:2] == (422, "validation_error")
    money = {"value": 5, "currency": "USD", "payment_ref": "bank:1"}
    paid = {**event, "event_name": "deposit", "properties": money}
    assert data(key.post("/events", json=paid), 202)["conversion_type"] == "deposit"
    with db.transaction(settings.operational_url) as session:
        kept = [row.record for row in session.scalars(sa.select(IngestedRecord).order_by(IngestedRecord.id))]
    told = [(one["conversion_type"], one["event_name"], one["event_origin"]) for one in kept]
    assert told == [("unmapped_event", "trial_start", "server"), ("payment_received", "deposit", "server")]


def test_an_event_sent_again_after_its_goal_changed_is_the_same_event(key: Caller) -> None:
    event: dict[str, Any] = {"event_name": "deposit", "anonymous_id": "a1", "idempotency_key": "one"}
    money = {"value": 5, "currency": "USD", "payment_ref": "bank:1"}
    event |= {"timestamp": "2026-03-05T10:00:00Z", "properties": money}
    first = data(key.post("/events", json=event), 202)
    assert first["conversion_type"] is None
    cash = {"conversion_key": "deposit", "source_event_names": ["deposit"], "revenue_type": "cash"}
    data(key.post(PATH, json={**TRIAL, **cash}), 201)
    again = data(key.post("/events", json=event), 202)
    assert (again["status"], again["event_id"]) == ("duplicate", first["event_id"])


def test_a_browser_makes_no_cash() -> None:
    deposit = goals.Goal("deposit", "cash", ("deposit",), "Deposit")
    trial = goals.Goal("trial_started", "pipeline", ("trial_start",), "Trial")
    known = (*goals.BUILT_IN, deposit, trial)

    def of_browser(name: str) -> str | None:
        goal = goals.goal_of_browser_event(name, known)
        return goal and goal.conversion_key

    names = ("purchase", "payment_received", "deposit", "trial_start", "lead_submitted", "scroll")
    assert [of_browser(name) for name in names] == [
        *("order_placed", "order_placed", "order_placed", "trial_started", "lead_created", None),
    ]
    assert [goals.kept_type(goal) for goal in (deposit, trial, None)] == [
        *("payment_received", "unmapped_event", "unmapped_event"),
    ]


def test_conversions_of_a_deleted_goal_are_listed_as_long_as_they_are_counted(
    key: Caller, settings: Settings, profile: Profile
) -> None:
    facts = {"profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    counted = {"day": "2026-03-01", "custom_type": TRIAL["conversion_key"], "custom_pipeline": 3}
    told = {"profiles": [{"profile_key": 1, **facts}], "outcomes_daily": [{"profile_key": 1, **counted}]}
    served.publish(settings.published, told)
    goal = data(key.post(PATH, json=TRIAL), 201)["goal_id"]
    data(key("DELETE", f"{PATH}/{goal}"))
    window = "date_from=2026-03-01&date_to=2026-03-01"
    (row,) = data(key.get(f"/conversions?{window}"))
    assert row["event_type"] == TRIAL["conversion_key"]
    assert data(key.get(f"/conversions/list?{window}&type={row['event_type']}")) == []
    assert refusal(key.get(f"/conversions/list?{window}&type=trial_startd"))[:2] == (400, "invalid_parameter")
