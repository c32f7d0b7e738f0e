"""GET W/recommendations, and applying and dismissing them: at the sandbox's platform, once, on the record."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.models import AuditEntry, Profile, Recommendation, Writeback
from api.roles import Role
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.api.v1.workspaces.conftest import Ask, as_role, ask, data, owner, refusal, session, url, w
from tests.factories import accounts, people
from tests.factories.connected import Advertiser

__all__ = ["as_role", "ask", "owner", "session", "url", "w"]

AT = datetime(2026, 3, 29, tzinfo=UTC)
CLOSED = (409, "invalid_state", "recommendation_closed")
EVIDENCE = {
    "composite_score": 10.0, "maturity_stage": "calibrated", "primary_layer": "attributed_revenue",
    "primary_percentile": 12, "primary_confidence": "high", "attention_percentile": None,
    "click_intent_percentile": None, "spend": 10.0, "spend_share": 0.5, "fair_share": 0.5, "fatigue_risk_tier": None,
    "response_index": None, "delivery_days": 20,
}  # fmt: skip

Make = Callable[..., str]


@pytest.fixture
def make(url: str, profile: Profile) -> Make:
    """One more recommendation, by default about fixing a landing page; gives its id."""

    def made(of: Profile | None = None, **members: Any) -> str:
        one = of or profile
        plain: dict[str, Any] = {
            "kind": "fix_landing", "entity_id": db.new_id(), "entity_external_id": "1", "entity_name": "Ad 1",
            "platform": "meta", "score_window": "28d", "evidence": EVIDENCE, "created_at": AT,
            "expires_at": AT + timedelta(days=14),
        }  # fmt: skip
        with db.transaction(url) as unit:
            row = Recommendation(workspace_id=one.workspace_id, profile_id=one.id, **{**plain, **members})
            unit.add(row)
        return row.id

    return made


@pytest.fixture
def second(url: str, profile: Profile) -> Profile:
    with db.transaction(url) as unit:
        made = Profile(workspace_id=profile.workspace_id, name="Two", timezone="UTC", reporting_currency="USD")
        unit.add(made)
    return made


def decide(ask: Ask, token: str, profile: Profile, id_: str, what: str, **body: Any) -> Any:
    named = {"profile_id": profile.id}
    return ask("POST", f"/recommendations/{id_}/{what}", token, json=body, query_string=named)


def kept(url: str, id_: str) -> Recommendation:
    with db.transaction(url) as unit:
        return unit.get_one(Recommendation, id_)


def test_a_row_tells_what_and_why_and_what_applying_does(ask: Ask, session: str, w: str, make: Make) -> None:
    entity = db.new_id()
    made = make(
        kind="scale", entity_id=entity, action_type="change_budget", action_level="ad_set", action_entity_id=entity,
        from_minor=900, to_minor=1000, currency="EUR",
    )  # fmt: skip
    (row,) = data(ask("GET", f"{w}/recommendations", session))
    assert row == {
        "recommendation_id": made, "profile_id": row["profile_id"], "kind": "scale", "status": "open",
        "entity": {"level": "ad", "id": entity, "external_id": "1", "name": "Ad 1", "platform": "meta"},
        "score_window": "28d", "evidence": EVIDENCE,
        "suggested_action": {"type": "change_budget", "from_minor": 900, "to_minor": 1000, "currency": "EUR"},
        "created_at": "2026-03-29T00:00:00.000Z", "expires_at": "2026-04-12T00:00:00.000Z",
        "decided_at": None, "decided_by": None,
    }  # fmt: skip


def test_filters_and_pages(ask: Ask, session: str, w: str, make: Make, second: Profile) -> None:
    ids = [make(created_at=AT + timedelta(hours=n)) for n in range(3)]
    theirs = make(second, kind="pause", created_at=AT + timedelta(hours=9))
    closed = make(status="dismissed", created_at=AT - timedelta(days=1))

    def listed(**query: str) -> list[str]:
        found = data(ask("GET", f"{w}/recommendations", session, query_string=query))
        return [row["recommendation_id"] for row in found]

    assert listed() == [theirs, *reversed(ids)]
    assert listed(status="all") == [theirs, *reversed(ids), closed]
    assert listed(status="dismissed") == [closed]
    assert listed(kinds="pause,scale") == [theirs]
    assert listed(profile_ids=second.id) == listed(profile_id=second.id) == [theirs]
    assert listed(window="7d") == []
    first = ask("GET", f"{w}/recommendations", session, query_string={"limit": "2"})
    cursor = first.get_json()["pagination"]["cursor"]
    assert listed(limit="2", cursor=cursor) == [ids[1], ids[0]]
    for query in ({"kinds": "sing"}, {"status": "gone"}, {"window": "1d"}, {"cursor": cursor, "status": "all"}):
        refused = ask("GET", f"{w}/recommendations", session, query_string=query)
        assert refusal(refused)[:2] == (400, "invalid_parameter")


def test_guests_see_their_profiles_and_keys_nothing(
    ask: Ask, as_role: Callable[..., str], w: str, make: Make, second: Profile, url: str, profile: Profile
) -> None:
    mine = make()
    make(second)
    guest = as_role(Role.GUEST)
    assert [row["recommendation_id"] for row in data(ask("GET", f"{w}/recommendations", guest))] == [mine]
    named = {"query_string": {"profile_ids": second.id}}
    assert refusal(ask("GET", f"{w}/recommendations", guest, **named))[:2] == (404, "not_found")
    key = accounts.secret(url, profile, scopes=list(Scope))
    assert refusal(ask("GET", f"{w}/recommendations", key))[:2] == (403, "forbidden")


def test_the_tab_counts_open_ones_since_the_last_look(
    ask: Ask, session: str, w: str, make: Make, second: Profile, as_role: Callable[..., str]
) -> None:
    make(created_at=db.now() + timedelta(minutes=1))
    make(second, created_at=db.now() + timedelta(minutes=1))
    make(created_at=AT)
    make(status="expired", created_at=db.now() + timedelta(minutes=1))
    assert data(ask("GET", f"{w}/tab-counts", session))["tabs"]["recommendations"] == 2
    assert data(ask("GET", f"{w}/tab-counts", as_role(Role.GUEST)))["tabs"]["recommendations"] == 1


def test_what_has_no_action_is_only_marked(ask: Ask, session: str, profile: Profile, make: Make, url: str) -> None:
    made = make()
    dry = data(decide(ask, session, profile, made, "apply", dry_run=True))
    assert (dry["status"], dry["change"]) == ("open", None)
    done = data(decide(ask, session, profile, made, "apply", note="Page is new."))
    assert (done["status"], done["change"], done["decided_by"]["display"]) == ("applied", None, "Ada")
    assert done["decided_at"] is not None
    with db.transaction(url) as unit:
        (entry,) = unit.scalars(sa.select(AuditEntry)).all()
    assert (entry.action, entry.outcome, entry.category) == ("recommendation.applied", "done", "campaigns")
    assert entry.details == {
        "target": {"kind": "recommendation", "id": made, "label": "fix_landing"},
        "after": {"entity_external_id": "1", "note": "Page is new."},
    }


@pytest.mark.parametrize("status", ["applied", "dismissed", "expired", "superseded"])
@pytest.mark.parametrize("what", ["apply", "dismiss"])
def test_what_is_closed_stays_closed(
    ask: Ask, session: str, profile: Profile, make: Make, status: str, what: str
) -> None:
    assert refusal(decide(ask, session, profile, make(status=status), what)) == CLOSED


def test_a_dismissal_keeps_its_reason_in_the_trail(
    ask: Ask, session: str, profile: Profile, make: Make, url: str
) -> None:
    made = make()
    key = {"headers": {"Idempotency-Key": "once"}, "json": {"reason": "Too early."}}
    path = f"/recommendations/{made.upper()}/dismiss?profile_id={profile.id}"
    first, again = (ask("POST", path, session, **key) for _ in range(2))
    assert data(first)["status"] == data(again)["status"] == "dismissed"
    assert again.headers["Idempotent-Replayed"] == "true"
    with db.transaction(url) as unit:
        (entry,) = unit.scalars(sa.select(AuditEntry)).all()
    assert (entry.action, entry.details["after"]["reason"]) == ("recommendation.dismissed", "Too early.")


def test_who_may_decide(
    ask: Ask, as_role: Callable[..., str], profile: Profile, make: Make, url: str, second: Profile, anonymous: Caller
) -> None:
    made = make()
    for role in (Role.EDITOR, Role.VIEWER, Role.GUEST):
        for what in ("apply", "dismiss"):
            assert refusal(decide(ask, as_role(role), profile, made, what))[:2] == (403, "insufficient_scope")
    editor, viewer = people.user(url), people.user(url)
    people.member(url, viewer, profile.workspace_id, Role.VIEWER, permissions=["campaigns.apply"])
    for what in ("apply", "dismiss"):
        refused = decide(ask, people.session_of(url, viewer), profile, made, what)
        assert refusal(refused) == (403, "forbidden", "role_required")
    people.member(url, editor, profile.workspace_id, Role.EDITOR, permissions=["campaigns.apply"])
    token = people.session_of(url, editor)
    assert refusal(decide(ask, token, second, made, "dismiss"))[:2] == (404, "not_found")
    assert refusal(decide(ask, token, profile, "12", "dismiss"))[:2] == (400, "invalid_parameter")
    assert data(decide(ask, token, profile, made, "dismiss"))["status"] == "dismissed"
    assert anonymous.post(f"/recommendations/{made}/apply", json={}).status_code == 401


def test_an_agent_decides_where_the_workspace_lets_agents_write(
    ask: Ask, session: str, owner: Any, profile: Profile, make: Make, url: str, w: str
) -> None:
    token = people.token_of(url, owner, grants=["mcp:write"])
    made = make()
    assert refusal(decide(ask, token, profile, made, "dismiss")) == (403, "forbidden", "writeback_disabled")
    assert kept(url, made).status == "open"
    assert ask("PUT", f"{w}/mcp-settings", session, json={"mcp_writeback_enabled": True}).status_code == 200
    assert data(decide(ask, token, profile, made, "dismiss"))["status"] == "dismissed"
    with db.transaction(url) as unit:
        refused, row = unit.scalars(sa.select(Writeback).order_by(Writeback.id)).all()
    assert (refused.outcome, refused.error_code, refused.target) == ("refused", "forbidden", row.target)
    assert (row.operation, row.outcome) == ("recommendation.dismissed", "done")


def test_a_stranger_is_nobody_to_act_for(ask: Ask, profile: Profile, make: Make, url: str, session: str) -> None:
    made = make()
    refused = decide(ask, session, profile, made, "apply", applied_by=db.new_id())
    assert refusal(refused) == (403, "forbidden", "applied_by_not_allowed")
    assert kept(url, made).status == "open"


def test_applying_pauses_the_ad_at_its_platform_and_says_what_became_of_it(
    advertiser: Advertiser, make: Make, url: str
) -> None:
    number = advertiser.one("ad")
    made = make(kind="pause", action_type="pause", action_level="ad", action_entity_id=number)
    path = f"/recommendations/{made}/apply"
    would = data(advertiser.post(path, {"dry_run": True}))
    assert (would["status"], would["change"]["outcome"]) == ("open", "would_pause")
    done = data(advertiser.post(path, {"note": "Loses money."}))
    assert (done["status"], done["change"]["outcome"]) == ("applied", "paused")
    assert done["change"]["status_after"] == "PAUSED"
    actions = [(entry.action, entry.outcome) for entry in advertiser.trail()]
    assert actions == [("ad.paused", "no_change"), ("ad.paused", "done"), ("recommendation.applied", "done")]
    assert refusal(advertiser.post(path)) == CLOSED


def test_applying_changes_the_budget_and_what_the_platform_refuses_leaves_it_open(
    advertiser: Advertiser, make: Make, url: str
) -> None:
    number = advertiser.one("ad_set")
    advertiser.sandbox.set(number, daily_budget="9000")
    asked = {"action_type": "change_budget", "action_level": "ad_set", "action_entity_id": number, "currency": "USD"}
    large = make(kind="scale", from_minor=4000, to_minor=14000, **asked)
    refused = advertiser.post(f"/recommendations/{large}/apply")
    assert refusal(refused) == (422, "budget_change_out_of_bounds", None)
    assert kept(url, large).status == "open"
    made = make(kind="scale", from_minor=9000, to_minor=10800, **asked)
    change = data(advertiser.post(f"/recommendations/{made}/apply"))["change"]
    assert (change["outcome"], change["budget_after_minor"]) == ("changed", 10800)
    assert kept(url, made).status == "applied"
    # whoever raised it further by hand meanwhile had it cut back by a fifth more of the one before
    advertiser.sandbox.set(number, daily_budget="15000")
    late = make(kind="scale", from_minor=9000, to_minor=10800, **asked)
    change = data(advertiser.post(f"/recommendations/{late}/apply"))["change"]
    assert (change["outcome"], change["budget_after_minor"]) == ("no_change", 15000)
    assert kept(url, late).status == "applied"
