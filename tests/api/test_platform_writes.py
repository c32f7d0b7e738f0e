"""Changes at an ad platform: the state table, the step of a budget, the trail, agents, and answers that are lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import Caller
from tests.factories.connected import POST_LOST, Advertiser, data, refusal


@pytest.mark.parametrize("level", ["campaign", "ad"])
@pytest.mark.parametrize(
    ("verb", "live", "outcome", "after"),
    [
        ("pause", "ACTIVE", "paused", "PAUSED"),
        ("pause", "PAUSED", "no_change", "PAUSED"),
        ("resume", "PAUSED", "resumed", "ACTIVE"),
        ("resume", "ACTIVE", "no_change", "ACTIVE"),
    ],
)
def test_the_live_status_decides_what_a_verb_does(
    advertiser: Advertiser, level: Any, verb: str, live: str, outcome: str, after: str
) -> None:
    number = advertiser.one(level)
    advertiser.sandbox.set(number, status=live)
    done = data(advertiser.post(f"/{level}s/{number}/{verb}", {"note": "weekend"}))
    [entry] = advertiser.trail()
    assert done == {
        "action": verb, "outcome": outcome, "platform_id": number, "level": level, "status_before": live,
        "status_after": after, "audit_id": entry.id, "dry_run": False,
    }  # fmt: skip
    assert (entry.action, entry.outcome) == (f"{level}.{verb}d", "no_change" if outcome == "no_change" else "done")
    assert entry.details["before"] == {"status": live} and entry.details["after"] == {"status": after}
    assert (entry.details["note"], entry.details["target"]["id"]) == ("weekend", number)


@pytest.mark.parametrize("live", ["ARCHIVED", "DELETED"])
@pytest.mark.parametrize(
    ("path", "level", "code"),
    [
        ("/campaigns/{}/pause", "campaign", "campaign_not_pausable"),
        ("/campaigns/{}/resume", "campaign", "campaign_not_resumable"),
        ("/campaigns/{}/budget", "campaign", "campaign_not_editable"),
        ("/ads/{}/pause", "ad", "campaign_not_pausable"),
        ("/ads/{}/resume", "ad", "campaign_not_resumable"),
        ("/ad-sets/{}/budget", "ad_set", "adset_not_editable"),
    ],
)
def test_what_is_archived_or_deleted_is_refused_and_the_attempt_audited(
    advertiser: Advertiser, path: str, level: Any, code: str, live: str
) -> None:
    number = advertiser.one(level)
    advertiser.sandbox.set(number, status=live)
    advertiser.sandbox.plan()
    body = {"amount_minor": 5000} if "budget" in path else {}
    assert refusal(advertiser.post(path.format(number), body)) == (409, code, None)
    assert [(entry.outcome, entry.details["target"]["id"]) for entry in advertiser.trail()] == [(code, number)]
    assert advertiser.sandbox.calls(number) == 1


def test_an_ad_set_under_an_archived_campaign_keeps_its_budget(advertiser: Advertiser) -> None:
    campaign = advertiser.one("campaign")
    ad_set = next(row.id for row in advertiser.sandbox.world.ad_sets if row.campaign_id == campaign)
    advertiser.sandbox.set(campaign, status="ARCHIVED")
    refused = advertiser.post(f"/ad-sets/{ad_set}/budget", {"amount_minor": 5000})
    assert refusal(refused) == (409, "adset_not_editable", None)


@pytest.mark.parametrize(
    ("live", "asked", "outcome"),
    [
        (9000, 13500, "changed"), (9000, 13501, None), (9000, 4500, "changed"), (9000, 4499, None),
        (9000, 9000, "no_change"), (101, 151, "changed"), (101, 152, None), (199, 100, "changed"), (198, 99, None),
        (60, 60, None), (60, 100, None),
    ],
)  # fmt: skip
def test_a_budget_moves_by_half_of_the_live_one_and_never_under_the_floor(
    advertiser: Advertiser, live: int, asked: int, outcome: str | None
) -> None:
    number = advertiser.one("ad_set")
    advertiser.sandbox.set(number, daily_budget=str(live))
    response = advertiser.post(f"/ad-sets/{number}/budget", {"amount_minor": asked})
    if outcome is None:
        assert refusal(response) == (422, "budget_change_out_of_bounds", None)
        assert [entry.outcome for entry in advertiser.trail()] == ["budget_change_out_of_bounds"]
        return
    done = data(response)
    assert (done["outcome"], done["budget_before_minor"], done["budget_after_minor"]) == (outcome, live, asked)
    assert (done["allowed_min_minor"], done["allowed_max_minor"]) == (max(100, -(-live // 2)), live * 3 // 2)
    assert done["currency"] == "USD"


def test_a_budget_of_a_type_that_is_not_there_is_refused(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    asked = {"amount_minor": 5000, "budget_type": "lifetime"}
    assert refusal(advertiser.post(f"/campaigns/{number}/budget", asked)) == (
        409, "invalid_state", "no_budget_of_type",
    )  # fmt: skip
    advertiser.sandbox.set(number, lifetime_budget="8000", daily_budget="0")
    assert data(advertiser.post(f"/campaigns/{number}/budget", asked))["budget_after_minor"] == 5000


def test_a_dry_run_says_what_would_be_done_and_asks_for_nothing(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    would = data(advertiser.post(f"/campaigns/{number}/pause", {"dry_run": True}))
    assert (would["outcome"], would["status_after"], would["dry_run"]) == ("would_pause", "ACTIVE", True)
    budget = data(advertiser.post(f"/campaigns/{number}/budget", {"dry_run": True, "amount_minor": 8000}))
    assert (budget["outcome"], budget["budget_after_minor"]) == ("would_change", budget["budget_before_minor"])
    refused = advertiser.post(f"/campaigns/{number}/budget", {"dry_run": True, "amount_minor": 1})
    assert refusal(refused)[1] == "budget_change_out_of_bounds"
    assert advertiser.sandbox.calls(number) == 3
    assert [(entry.outcome, entry.details["dry_run"]) for entry in advertiser.trail()] == [
        ("no_change", True), ("no_change", True), ("budget_change_out_of_bounds", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/campaigns/120210000000099999/pause", "campaign_not_found"),
        ("/campaigns/{ad}/pause", "campaign_not_found"),
        ("/campaigns/no%20id/budget", "campaign_not_found"),
        ("/campaigns/no%2Fid/resume", "campaign_not_found"),
        ("/ads/{campaign}/resume", "not_found"),
        ("/ad-sets/{ad}/budget", "not_found"),
    ],
)
def test_an_id_of_nothing_or_of_another_level_is_not_found(advertiser: Advertiser, path: str, code: str) -> None:
    path = path.format(ad=advertiser.one("ad"), campaign=advertiser.one("campaign"))
    body = {"amount_minor": 5000} if "budget" in path else {}
    assert refusal(advertiser.post(path, body))[:2] == (404, code)
    assert [entry.outcome for entry in advertiser.trail()] == [code]


def test_a_campaign_of_an_account_that_is_not_connected_is_not_found(advertiser: Advertiser) -> None:
    foreign = next(
        row.id
        for row in advertiser.sandbox.world.campaigns
        if row.account_id != advertiser.connection.external_account_id and row.status == "ACTIVE"
    )
    advertiser.sandbox.plan()
    assert refusal(advertiser.post(f"/campaigns/{foreign}/pause"))[1] == "campaign_not_found"
    # the token opens that account too: it was seen, and is not the profile's
    assert advertiser.sandbox.calls(foreign) == 1


def test_the_same_key_pauses_once_and_answers_the_same(advertiser: Advertiser) -> None:
    path, key = f"/campaigns/{advertiser.one('campaign')}/pause", {"Idempotency-Key": "one"}
    first, second = advertiser.post(path, **key), advertiser.post(path, **key)
    assert data(first) == data(second)
    assert second.headers["Idempotent-Replayed"] == "true"
    assert len(advertiser.trail()) == 1


@pytest.mark.parametrize("cut", [{"kind": "truncation"}, {"kind": "truncation", "message": "announced"}])
def test_a_change_whose_answers_were_all_lost_is_told_as_done_when_the_platform_shows_it(
    advertiser: Advertiser, cut: dict[str, str]
) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.plan({**POST_LOST, **cut, "times": None})
    done = data(advertiser.post(f"/campaigns/{number}/pause"))
    assert (done["outcome"], done["status_after"]) == ("paused", "PAUSED")
    assert [entry.outcome for entry in advertiser.trail()] == ["done"]


def test_a_change_that_was_made_before_the_platform_asked_for_patience_is_told_as_done(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.plan({**POST_LOST, "kind": "truncation"}, {**POST_LOST, "kind": "throttled", "wait": 600})
    done = data(advertiser.post(f"/campaigns/{number}/pause"))
    assert (done["outcome"], done["status_after"]) == ("paused", "PAUSED")
    assert [entry.outcome for entry in advertiser.trail()] == ["done"]


@pytest.mark.parametrize("code", ["294", "368", "100"])
def test_a_change_that_was_made_before_its_repetition_was_refused_is_told_as_done(
    advertiser: Advertiser, code: str
) -> None:
    # the answer was 403, and the trail said refused, while the campaign rested
    number = advertiser.one("campaign")
    advertiser.sandbox.plan({**POST_LOST, "kind": "truncation"}, {**POST_LOST, "kind": "code", "code": code})
    done = data(advertiser.post(f"/campaigns/{number}/pause"))
    assert (done["outcome"], done["status_after"]) == ("paused", "PAUSED")
    assert [entry.outcome for entry in advertiser.trail()] == ["done"]


def test_a_refusal_after_a_lost_answer_says_what_is_known_of_the_deed(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    refuse = {**POST_LOST, "kind": "code", "code": "294"}
    dead = {"route": r"/\d+$", "kind": "revoked", "times": None}
    advertiser.sandbox.plan({**POST_LOST, "kind": "reset"}, refuse)
    shown = advertiser.post(f"/campaigns/{number}/pause")
    advertiser.sandbox.plan({**POST_LOST, "kind": "truncation"}, {**dead, "after": 1})
    unknown = advertiser.post(f"/campaigns/{number}/pause")
    assert refusal(shown)[:2] == (403, "platform_write_permission_missing")
    assert shown.get_json()["error"]["message"].endswith("It still shows ACTIVE.")
    assert refusal(unknown)[:2] == (409, "connection_revoked")
    assert "may have been made" in unknown.get_json()["error"]["message"]
    assert unknown.get_json()["error"]["reconnect_required"] is True
    known, open_ = (entry.details for entry in advertiser.trail())
    assert (known["after"], open_["after"], open_["confirmed"]) == ({"status": "ACTIVE"}, {"status": None}, False)


def test_after_a_plea_for_patience_the_trail_says_whether_it_is_known_what_stands(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.plan({**POST_LOST, "kind": "throttled", "wait": 600})
    refused = advertiser.post(f"/campaigns/{number}/pause")
    assert refusal(refused) == (502, "provider_error", "throttled")
    assert "600 seconds" in refused.get_json()["error"]["message"]
    advertiser.sandbox.plan({"route": rf"/{number}$", "kind": "throttled", "wait": 600, "after": 1, "times": None})
    unknown = advertiser.post(f"/campaigns/{number}/pause")
    assert refusal(unknown) == (502, "provider_error", "throttled")
    assert "may have been made" in unknown.get_json()["error"]["message"]
    known, open_ = (entry.details for entry in advertiser.trail())
    assert (known["after"], open_["after"], open_["confirmed"]) == ({"status": "ACTIVE"}, {"status": None}, False)


def test_a_change_that_the_platform_does_not_show_is_not_told_as_done(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.plan({**POST_LOST, "kind": "reset", "times": None})
    response = advertiser.post(f"/campaigns/{number}/pause", **{"Idempotency-Key": "again"})
    assert refusal(response) == (502, "provider_error", "unavailable")
    assert "it still showed ACTIVE" in response.get_json()["error"]["message"]
    [entry] = advertiser.trail()
    assert (entry.outcome, entry.details["confirmed"]) == ("provider_error", False)
    assert entry.details["after"] == {"status": "ACTIVE"}
    advertiser.sandbox.plan()
    assert data(advertiser.post(f"/campaigns/{number}/pause", **{"Idempotency-Key": "again"}))["outcome"] == "paused"


def test_what_nobody_knows_is_said_to_be_unknown(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.plan({"route": rf"/{number}$", "kind": "reset", "after": 1, "times": None})
    response = advertiser.post(f"/campaigns/{number}/pause")
    assert refusal(response) == (502, "provider_error", "unavailable")
    assert "the change may have been made" in response.get_json()["error"]["message"]
    assert advertiser.trail()[0].details["after"] == {"status": None}


def test_a_confirmed_change_that_cannot_be_read_back_says_so(advertiser: Advertiser) -> None:
    number = advertiser.one("campaign")
    advertiser.sandbox.plan({"route": rf"/{number}$", "method": "GET", "kind": "reset", "after": 1, "times": None})
    done = data(advertiser.post(f"/campaigns/{number}/pause"))
    assert (done["outcome"], done["status_after"]) == ("paused", None)


@pytest.mark.parametrize(
    ("fault", "promised"),
    [
        ({"kind": "code", "code": "294"}, (403, "platform_write_permission_missing", None)),
        ({"kind": "code", "code": "368"}, (403, "forbidden", "platform_permission_denied")),
        ({"kind": "code", "code": "100", "subcode": 1885272}, (422, "validation_error", None)),
        ({"kind": "throttled", "wait": 600}, (502, "provider_error", "throttled")),
        ({"kind": "revoked"}, (409, "connection_revoked", None)),
    ],
    ids=lambda value: value.get("code", value["kind"]) if isinstance(value, dict) else None,
)
def test_what_the_platform_refuses_is_told_by_its_code(
    advertiser: Advertiser, fault: dict[str, Any], promised: tuple[int, str, str | None]
) -> None:
    number = advertiser.one("ad_set")
    advertiser.sandbox.plan({**POST_LOST, **fault, "times": None})
    assert refusal(advertiser.post(f"/ad-sets/{number}/budget", {"amount_minor": 4000})) == promised
    assert [entry.outcome for entry in advertiser.trail()] == [promised[1]]


def test_without_an_ad_account_a_connection_is_required(caller_with: Callable[..., Caller]) -> None:
    caller = caller_with(scopes=["campaigns:apply", "campaigns:read"])
    promised = (409, "platform_connection_required", None)
    assert refusal(caller.post("/campaigns/120210000000010001/pause", json={})) == promised
    assert refusal(caller.get("/campaigns/120210000000010001/status")) == promised


@pytest.mark.parametrize(
    "body",
    [
        {}, {"amount_minor": 0}, {"amount_minor": 1.5}, {"amount_minor": "900"}, {"amount_minor": True},
        {"amount_minor": 900, "budget_type": "weekly"}, {"amount_minor": 900, "dry_run": 1},
        {"amount_minor": 900, "note": "x" * 501}, {"amount_minor": 900, "amount": 9},
    ],
)  # fmt: skip
def test_a_body_that_makes_no_sense_is_refused_before_anything(advertiser: Advertiser, body: dict[str, Any]) -> None:
    advertiser.sandbox.plan()
    assert refusal(advertiser.post("/campaigns/1/budget", body))[:2] == (422, "validation_error")
    assert advertiser.sandbox.calls() == 0 and advertiser.trail() == []
