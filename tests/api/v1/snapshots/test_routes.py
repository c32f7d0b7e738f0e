"""W/snapshots: freezing a leaderboard, listing and revoking its links, and who may."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from werkzeug.test import TestResponse

from api import db, purge
from api.audit import Actor
from api.errors import NOT_FOUND, ApiError
from api.models import AuditEntry, Profile, SharedSnapshot, Workspace
from api.roles import Role
from api.v1.snapshots.capturing import capture
from api.v1.top_performers.rows import MONEY
from tests.api.v1.campaigns.conftest import Deployment
from tests.api.v1.top_performers.conftest import OTHER, PROFILE, Member, error
from tests.factories import documented, people, served


def captured(by: Member, **body: Any) -> dict[str, Any]:
    answer = by("POST", "/snapshots", json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.get_json()["data"]
    return made


def opened(by: Member, made: dict[str, Any]) -> TestResponse:
    path = made["url"].removeprefix(by.settings.base_url)
    return by.client.get(path, headers={"Accept": "application/json"})


def test_a_capture_freezes_the_rows_of_the_moment(ranked: Deployment, ada: Member) -> None:
    shown = ada.data("/top-performers", limit=2)
    made = captured(ada, title=" Spring ", limit=2, expires_in_days=7)
    assert made["url"].startswith(f"{ada.settings.base_url}/shared/tl_shr_")
    assert made["token_prefix"] in made["url"]
    assert (made["title"], made["status"], made["row_count"]) == ("Spring", "active", 2)
    assert (made["score_window"], made["score_date"], made["config_version"]) == ("28d", "2026-03-27", 3)
    assert made["created_by"] == {"kind": "session", "id": ada.user.id, "display": "owner"}
    assert (made["revoked_at"], made["view_count"], made["last_viewed_at"]) == (None, 0, None)
    ranked.publish({"profiles": []}, token=2)
    answer = opened(ada, made)
    assert answer.status_code == 200
    assert answer.get_json()["data"]["rows"] == shown
    listed = ada.data("/snapshots")
    assert [one["snapshot_id"] for one in listed] == [made["snapshot_id"]]
    assert "url" not in listed[0] and listed[0]["view_count"] == 1 and listed[0]["last_viewed_at"]


def test_the_link_is_shown_once_and_kept_as_a_digest(ada: Member) -> None:
    key = {"Idempotency-Key": "once"}
    first = ada("POST", "/snapshots", json={}, headers=key).get_json()["data"]
    again = ada("POST", "/snapshots", json={}, headers=key)
    documented.check(ada.client, again, "/api/v1/workspaces/{workspace_id}/snapshots")
    assert again.get_json()["data"] == {**first, "url": None}
    token = first["url"].rpartition("/")[2]
    with db.transaction(ada.settings.operational_url) as session:
        (kept,) = session.query(SharedSnapshot).all()
        assert token not in json.dumps({name: str(getattr(kept, name)) for name in vars(kept)})


def test_filters_decide_what_is_frozen_and_are_told(ada: Member) -> None:
    filters = {"min_spend": 1.5, "objectives": ["sales"], "has_video": True}
    made = captured(ada, filters=filters, profile_ids=[PROFILE, PROFILE])
    assert (made["filters"], made["row_count"], made["profile_ids"]) == (filters, 1, [PROFILE])
    assert [row["ad_external_id"] for row in opened(ada, made).get_json()["data"]["rows"]] == ["301"]


def test_hidden_money_is_not_even_kept(ada: Member) -> None:
    made = captured(ada, hide_money=True, filters={"min_spend": 1})
    with db.transaction(ada.settings.operational_url) as session:
        kept = session.get_one(SharedSnapshot, made["snapshot_id"])
    assert all(row[name] is None for row in kept.rows for name in MONEY)
    assert kept.rows[0]["impressions"] == 1000
    assert opened(ada, made).get_json()["data"]["filters"] == {}


@pytest.mark.parametrize(
    "body", [{"window": "lifetime"}, {"filters": {"min_spend": 1000}}, {"filters": {"formats": ["x"]}}]
)
def test_nothing_scored_is_nothing_to_freeze(ada: Member, body: dict[str, Any]) -> None:
    assert error(ada("POST", "/snapshots", json=body)) == (409, "invalid_state", "nothing_scored")
    assert ada.data("/snapshots") == []


def test_before_anything_is_published_nothing_is_frozen(deployment: Deployment) -> None:
    answer = Member(deployment)("POST", "/snapshots", json={})
    assert error(answer) == (409, "invalid_state", "nothing_scored")


def test_the_plan_allows_so_many_active_links_and_a_revoked_one_makes_room(ada: Member) -> None:
    made = [captured(ada) for _ in range(5)]
    refused = ada("POST", "/snapshots", json={})
    assert error(refused)[:2] == (402, "plan_upgrade_required")
    assert error(ada("POST", "/snapshots", json={"window": "lifetime"}))[:2] == (402, "plan_upgrade_required")
    ada("DELETE", f"/snapshots/{made[0]['snapshot_id']}")
    captured(ada)


def test_a_revoked_link_opens_nothing_from_then_on_and_again_is_the_same(ada: Member) -> None:
    made = captured(ada)
    first = ada("DELETE", f"/snapshots/{made['snapshot_id']}")
    assert opened(ada, made).status_code == 404
    again = ada("DELETE", f"/snapshots/{made['snapshot_id']}")
    assert first.get_json()["data"] == again.get_json()["data"]
    assert first.get_json()["data"]["status"] == "revoked"
    with db.transaction(ada.settings.operational_url) as session:
        trail = list(session.query(AuditEntry).order_by(AuditEntry.at))
    assert [one.action for one in trail] == ["snapshot.captured", "snapshot.revoked"]
    assert trail[0].details["after"]["expires_at"] == made["expires_at"]


def test_within_a_profile_only_links_that_show_nothing_else_are_listed_and_revoked(ada: Member) -> None:
    whole, own = captured(ada), captured(ada, profile_ids=[PROFILE])
    for profile_id, made in ((PROFILE, whole), (OTHER, own)):
        query = {"profile_id": profile_id}
        assert made["snapshot_id"] not in [one["snapshot_id"] for one in ada.data("/snapshots", **query)]
        refused = ada("DELETE", f"/snapshots/{made['snapshot_id']}", query_string=query)
        assert error(refused)[:2] == (404, "not_found")
        assert opened(ada, made).status_code == 200
    done = ada("DELETE", f"/snapshots/{own['snapshot_id']}", query_string={"profile_id": PROFILE})
    assert (done.status_code, opened(ada, own).status_code) == (200, 404)


def test_a_link_ends_by_itself_and_can_still_be_revoked(ada: Member) -> None:
    made = captured(ada, expires_in_days=1)
    with time_machine.travel(db.now() + timedelta(days=1, seconds=1)):
        # the session of the test outlives the day: it may idle for seven
        assert opened(ada, made).status_code == 404
        assert [one["status"] for one in ada.data("/snapshots", status="expired")] == ["expired"]
        assert ada.data("/snapshots", status="active") == []
        ada("DELETE", f"/snapshots/{made['snapshot_id']}")
        assert [one["status"] for one in ada.data("/snapshots", status="revoked")] == ["revoked"]


def test_the_list_is_newest_first_and_paged(ada: Member) -> None:
    made = [captured(ada, title=str(n))["snapshot_id"] for n in range(3)]
    first = ada.get("/snapshots", limit=2).get_json()
    assert [one["snapshot_id"] for one in first["data"]] == [made[2], made[1]]
    rest = ada.get("/snapshots", limit=2, cursor=first["pagination"]["cursor"]).get_json()
    assert ([one["snapshot_id"] for one in rest["data"]], rest["pagination"]["has_next"]) == ([made[0]], False)


def test_a_guest_sees_only_what_shows_their_profiles_alone(ranked: Deployment, ada: Member) -> None:
    both = captured(ada)
    one = captured(ada, profile_ids=[OTHER])
    guest = Member(ranked, Role.GUEST, of=(OTHER,))
    assert [row["snapshot_id"] for row in guest.data("/snapshots")] == [one["snapshot_id"]]
    assert error(guest("POST", "/snapshots", json={}))[:2] == (403, "forbidden")
    assert error(guest("DELETE", f"/snapshots/{one['snapshot_id']}"))[:2] == (403, "forbidden")
    narrowed = ada.data("/snapshots", profile_id=OTHER)
    assert [row["snapshot_id"] for row in narrowed] == [one["snapshot_id"]]
    assert both["snapshot_id"] in [row["snapshot_id"] for row in Member(ranked, Role.VIEWER).data("/snapshots")]


def test_an_editor_revokes_their_own_and_an_admin_any(ranked: Deployment, ada: Member) -> None:
    editor, admin = Member(ranked, Role.EDITOR), Member(ranked, Role.ADMIN)
    own, other = captured(editor), captured(ada)
    refused = editor("DELETE", f"/snapshots/{other['snapshot_id']}")
    assert error(refused) == (403, "forbidden", "role_required")
    for by, of in ((editor, own), (admin, other)):
        assert by("DELETE", f"/snapshots/{of['snapshot_id']}").status_code == 200


def test_a_viewer_with_the_permission_makes_and_revokes_a_link(ranked: Deployment, ada: Member) -> None:
    viewer = Member(ranked, Role.VIEWER)
    assert error(viewer("POST", "/snapshots", json={}))[:2] == (403, "insufficient_scope")
    (place,) = [one for one in ada.data("/memberships") if one["user_id"] == viewer.user.id]
    change = {"json": {"permissions": ["reports.manage"]}}
    assert ada("PATCH", f"/memberships/{place['membership_id']}", **change).status_code == 200
    assert viewer("DELETE", f"/snapshots/{captured(viewer)['snapshot_id']}").status_code == 200


def test_an_editor_who_lost_the_permission_makes_and_revokes_no_link(ranked: Deployment, ada: Member) -> None:
    editor = Member(ranked, Role.EDITOR)
    own = captured(editor)
    change = {"json": {"permissions": ["-reports.manage"]}}
    (place,) = [one for one in ada.data("/memberships") if one["user_id"] == editor.user.id]
    assert ada("PATCH", f"/memberships/{place['membership_id']}", **change).status_code == 200
    agent = people.token_of(ranked.settings.operational_url, editor.user, grants=("mcp:read", "mcp:write"))
    for token in (editor.token, agent):
        for method, path in (("POST", "/snapshots"), ("DELETE", f"/snapshots/{own['snapshot_id']}")):
            # a body of another shape is not looked at before
            refused = editor(method, path, json={"limit": "x"}, headers={"Authorization": f"Bearer {token}"})
            assert error(refused)[:2] == (403, "insufficient_scope")
            assert refused.get_json()["error"]["required_scopes"] == ["reports:write"]


def test_a_link_of_another_workspace_is_not_found(ranked: Deployment, ada: Member) -> None:
    made = captured(ada)
    url = ranked.settings.operational_url
    with db.transaction(url) as session:
        elsewhere = Workspace(name="Elsewhere")
        session.add(elsewhere)
        session.flush()
        people_of = elsewhere.id
    people.member(url, ada.user, people_of)
    answer = ada.client.delete(
        f"/api/v1/workspaces/{people_of}/snapshots/{made['snapshot_id']}",
        headers={"Authorization": f"Bearer {ada.token}"},
    )
    assert error(answer)[:2] == (404, "not_found")
    assert error(ada("DELETE", f"/snapshots/{db.new_id()}"))[:2] == (404, "not_found")


@pytest.mark.parametrize(
    "body",
    [
        {"title": ""},
        {"title": "x" * 121},
        {"expires_in_days": 0},
        {"expires_in_days": 366},
        {"limit": True},
        {"hide_money": "yes"},
        {"filters": {"min_spend": -1}},
        {"filters": {"min_spend": "1"}},
        {"filters": {"min_spend": 0.0000001}},
        {"filters": {"spend": 1}},
        {"objectives": ["sales"]},
    ],
)
def test_a_body_that_does_not_fit_is_refused(ada: Member, body: dict[str, Any]) -> None:
    assert error(ada("POST", "/snapshots", json=body))[:2] == (422, "validation_error")


def test_an_archived_profile_ends_the_links_that_show_it(ranked: Deployment, ada: Member) -> None:
    both, other = captured(ada), captured(ada, profile_ids=[OTHER])
    headers = {"Authorization": f"Bearer {ada.token}"}
    assert ada.client.delete(f"/api/v1/workspaces/{ada.workspace.id}", headers=headers).status_code == 200
    assert (opened(ada, both).status_code, opened(ada, other).status_code) == (404, 404)
    with db.transaction(ada.settings.operational_url) as session:
        assert [kept.rows for kept in session.query(SharedSnapshot)] == [[], []]


def test_a_profile_archived_while_it_is_captured_gets_no_link(ranked: Deployment, ada: Member) -> None:
    url = ranked.settings.operational_url
    with db.transaction(url) as session:
        profiles = [session.get_one(Profile, one) for one in (PROFILE, OTHER)]
    with db.transaction(url) as session:
        purge.retire(session, [OTHER], at=db.now())
    with ranked.app.app_context(), db.transaction(url) as session, pytest.raises(ApiError) as refused:
        workspace = session.get_one(Workspace, ada.workspace.id)
        by = Actor("session", ada.user.id, workspace.id, None, None)
        capture(session, None, workspace=workspace, profiles=profiles, asked={}, by=by)
    assert refused.value.code is NOT_FOUND


def test_a_capture_needs_a_publication_of_the_profiles_only(ranked: Deployment, ada: Member) -> None:
    assert captured(ada, profile_ids=[OTHER])["row_count"] == 1
    assert ranked.publish(served.from_csv(ranked.settings.home / "nothing"), token=2)
    assert error(ada("POST", "/snapshots", json={}))[2] == "nothing_scored"
