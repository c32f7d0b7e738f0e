"""Who changes something at an ad platform: agents, keys on behalf of people, and two at the same moment."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine

from api import db, errors, platform_changes
from api.audit import Actor, Attempt
from api.auth import Kind, Principal
from api.models import PlatformChange, Workspace, Writeback
from api.reach import Reach
from api.roles import Role
from tests.api.conftest import Caller
from tests.factories import accounts, people
from tests.factories.connected import POST_LOST, Advertiser, data, refusal


def test_a_second_change_of_the_same_object_waits_for_the_first(advertiser: Advertiser) -> None:
    number, url = advertiser.one("campaign"), advertiser.settings.operational_url
    with db.transaction(url) as session:
        held = PlatformChange(workspace_id=advertiser.profile.workspace_id, profile_id=advertiser.profile.id)
        held.platform_id, held.action, held.dry_run = number, "campaign.paused", False
        held.details, held.actor_kind = {"target": {"kind": "campaign", "id": number, "label": None}}, "api_key"
        session.add(held)
    response = advertiser.post(f"/campaigns/{number}/budget", {"amount_minor": 8000})
    assert refusal(response) == (429, "rate_limit_exceeded", "concurrency")
    assert response.headers["Retry-After"] == "1"
    assert data(advertiser.post(f"/campaigns/{number}/pause", {"dry_run": True}))["outcome"] == "would_pause"
    with time_machine.travel(db.now() + timedelta(seconds=61), tick=False):
        assert data(advertiser.post(f"/campaigns/{number}/pause"))["outcome"] == "paused"
    given_up = next(entry for entry in advertiser.trail() if entry.id == held.id)
    assert (given_up.outcome, given_up.details["confirmed"]) == ("internal_error", False)


# also under a clock that was ahead: the campaign could not be changed until that time came again
@pytest.mark.parametrize("ago", [timedelta(seconds=61), -timedelta(days=365)])
def test_the_worker_closes_what_a_dead_process_left_open(advertiser: Advertiser, ago: timedelta) -> None:
    number, url = advertiser.one("campaign"), advertiser.settings.operational_url
    with db.transaction(url) as session:
        left = PlatformChange(workspace_id=advertiser.profile.workspace_id, profile_id=advertiser.profile.id)
        left.platform_id, left.action, left.dry_run, left.actor_kind = number, "campaign.paused", False, "api_key"
        left.details, left.started_at = {}, db.now() - ago
        session.add(left)
    for _ in range(2):
        platform_changes.close_all_abandoned(advertiser.settings)
    assert [(entry.id, entry.outcome) for entry in advertiser.trail()] == [(left.id, "internal_error")]
    platform_changes.end(url, left, outcome="done", details={})
    assert len(advertiser.trail()) == 1


def agent(advertiser: Advertiser, *, may_write: bool) -> Caller:
    url, profile = advertiser.settings.operational_url, advertiser.profile
    person = people.user(url)
    people.member(url, person, profile.workspace_id, Role.ADMIN)
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).mcp_writeback_enabled = may_write
    secret = people.token_of(url, person, grants=["mcp:write"])
    return Caller(advertiser.ask.client, secret)  # type: ignore[attr-defined]


def writebacks(advertiser: Advertiser) -> list[Writeback]:
    with db.transaction(advertiser.settings.operational_url) as session:
        return list(session.scalars(sa.select(Writeback).order_by(Writeback.at, Writeback.id)))


def test_an_agent_writes_only_where_the_workspace_lets_it(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    path = f"/campaigns/{number}/pause?profile_id={advertiser.profile.id}"
    kept_off = agent(advertiser, may_write=False)
    advertiser.sandbox.plan()
    assert refusal(kept_off.post(path, json={})) == (403, "forbidden", "writeback_disabled")
    assert advertiser.sandbox.calls() == 0
    (kept,) = writebacks(advertiser)
    assert (kept.operation, kept.outcome, kept.error_code) == ("campaign.pause", "refused", "forbidden")
    assert kept.target["platform_id"] == number
    assert [entry.outcome for entry in advertiser.trail()] == ["forbidden"]


def test_what_an_agent_asks_for_is_kept_with_how_it_ended(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    allowed, asked = agent(advertiser, may_write=True), f"?profile_id={advertiser.profile.id}"
    allowed.post(f"/campaigns/{number}/pause{asked}", json={"dry_run": True})
    allowed.post(f"/campaigns/{number}/budget{asked}", json={"amount_minor": 1, "note": "free text"})
    allowed.post(f"/campaigns/{number}/pause{asked}", json={}, headers={"Idempotency-Key": "k"})
    advertiser.sandbox.plan({**POST_LOST, "kind": "reset", "times": None})
    allowed.post(f"/campaigns/{number}/resume{asked}", json={})
    kept = writebacks(advertiser)
    assert [(row.operation, row.dry_run, row.outcome, row.error_code) for row in kept] == [
        ("campaign.pause", True, "dry_run", None),
        ("campaign.budget", False, "refused", "budget_change_out_of_bounds"),
        ("campaign.pause", False, "done", None),
        ("campaign.resume", False, "failed", "provider_error"),
    ]
    assert kept[1].request == {"budget_type": "daily", "amount_minor": 1}
    assert kept[2].idempotency_key == "k"
    assert {row.target["platform_id"] for row in kept} == {number}


def test_a_key_acts_on_behalf_of_members_who_may_do_it(advertiser: Advertiser) -> None:
    url, workspace = advertiser.settings.operational_url, advertiser.profile.workspace_id
    path = f"/campaigns/{advertiser.one('campaign')}/pause"
    admin, editor, allowed, viewer, guest, stranger = (people.user(url) for _ in range(6))
    people.member(url, admin, workspace, Role.ADMIN)
    people.member(url, editor, workspace, Role.EDITOR)
    people.member(url, allowed, workspace, Role.EDITOR, permissions=["campaigns.apply"])
    people.member(url, viewer, workspace, Role.VIEWER, permissions=["campaigns.apply"])
    people.member(url, guest, workspace, Role.GUEST)
    answers = {
        person.id: advertiser.post(path, {"applied_by": person.id, "dry_run": True}).status_code
        for person in (admin, editor, allowed, viewer, guest, stranger)
    }
    assert list(answers.values()) == [200, 403, 200, 403, 403, 403]
    refused = advertiser.post(path, {"applied_by": stranger.id})
    assert refusal(refused) == (403, "forbidden", "applied_by_not_allowed")
    assert advertiser.trail()[0].details["applied_by"] == admin.id


@pytest.mark.parametrize(("role", "reason"), [(Role.VIEWER, "role_required"), (Role.EDITOR, None)])
def test_the_permission_lets_editors_change_campaigns_and_nobody_below(
    advertiser: Advertiser, role: Role, reason: str | None
) -> None:
    url, profile = advertiser.settings.operational_url, advertiser.profile
    person = people.user(url)
    people.member(url, person, profile.workspace_id, role, permissions=["campaigns.apply"])
    caller = Caller(advertiser.ask.client, people.session_of(url, person))  # type: ignore[attr-defined]
    campaign, ad_set, ad = (advertiser.one(level) for level in ("campaign", "ad_set", "ad"))
    paths = [
        *(f"/campaigns/{campaign}/{verb}" for verb in ("pause", "resume", "budget")),
        f"/ad-sets/{ad_set}/budget",
        *(f"/ads/{ad}/{verb}" for verb in ("pause", "resume")),
    ]
    answers = {}
    for path in paths:
        body = {"dry_run": True, **({"amount_minor": 1} if path.endswith("budget") else {})}
        error = caller.post(f"{path}?profile_id={profile.id}", json=body).get_json().get("error", {})
        answers[path] = error.get("reason")
    assert answers == dict.fromkeys(paths, reason)


def test_nobody_but_a_key_says_on_whose_behalf(advertiser: Advertiser) -> None:
    by_agent = agent(advertiser, may_write=True)
    url = advertiser.settings.operational_url
    admin = people.user(url)
    people.member(url, admin, advertiser.profile.workspace_id, Role.ADMIN)
    path = f"/campaigns/{advertiser.one('campaign')}/pause?profile_id={advertiser.profile.id}"
    refused = by_agent.post(path, json={"applied_by": admin.id, "dry_run": True})
    assert refusal(refused) == (403, "forbidden", "applied_by_not_allowed")


def test_the_workspaces_trail_tells_what_was_and_what_became_of_it(advertiser: Advertiser) -> None:
    url, workspace = advertiser.settings.operational_url, advertiser.profile.workspace_id
    admin = people.user(url)
    people.member(url, admin, workspace, Role.ADMIN)
    reader = Caller(advertiser.ask.client, people.session_of(url, admin))  # type: ignore[attr-defined]
    number = advertiser.one("campaign")
    done = data(advertiser.post(f"/campaigns/{number}/budget", {"amount_minor": 8000, "note": "Sunday"}))
    advertiser.post(f"/campaigns/{number}/budget", {"amount_minor": 1})
    refused, changed = reader.get(f"/workspaces/{workspace}/audit?category=campaigns").get_json()["data"]
    assert (changed["audit_id"], changed["action"]) == (done["audit_id"], "campaign.budget_changed")
    assert (changed["outcome"], changed["error_code"]) == ("done", None)
    assert changed["target"] == {"kind": "campaign", "id": number, "label": "Autumn Shells | Prospecting US"}
    assert changed["before"] == {"daily_budget_minor": 9000}
    assert changed["after"].items() >= {"daily_budget_minor": 8000, "note": "Sunday", "dry_run": False}.items()
    assert (refused["outcome"], refused["error_code"]) == ("refused", "budget_change_out_of_bounds")
    assert refused["after"]["wanted"] == {"daily_budget_minor": 1}


def test_only_one_change_of_an_object_is_open_at_a_time_on_either_database(database_url: str) -> None:
    profile = accounts.profile(database_url)
    by = Principal(Kind.API_KEY, db.new_id(), "key", frozenset(), own_profile=profile, reach=Reach(profile=profile))

    def begin(number: str, *, dry_run: bool = False) -> PlatformChange:
        return platform_changes.begin(
            database_url,
            by=by,
            actor=Actor("api_key", by.id, profile.workspace_id, profile.id),
            attempt=Attempt("campaign.paused"),
            operation="campaign.pause",
            target={"kind": "campaign", "platform_id": number, "name": None},
            request={},
            dry_run=dry_run,
            idempotency_key=None,
        )

    first = begin("1")
    begin("2")
    begin("1", dry_run=True)
    with pytest.raises(errors.ApiError) as caught:
        begin("1")
    assert caught.value.reason == "concurrency"
    platform_changes.end(database_url, first, outcome="done", details={})
    begin("1")
    with db.transaction(database_url) as session:
        platform_changes.close_abandoned(session, db.now() + timedelta(seconds=61))
        open_ = session.scalars(sa.select(PlatformChange).where(PlatformChange.ended_at.is_(None))).all()
    assert open_ == []
