"""Paging GET /campaigns: each row once, all from the snapshot the walk began on, by the caller's own cursor only."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import time_machine

from api import pagination
from tests.api.docs_pages.test_api_guide import pages
from tests.api.v1.campaigns.conftest import OTHER, PROFILE, WINDOW, Caller, Deployment
from tests.fixtures.altered import altered

ENTITIES = 23


def _tables(cash: int) -> dict[str, list[dict[str, Any]]]:
    """23 campaigns; most tie on every measure, so only the id orders them."""
    profile = {
        "profile_key": 1,
        "profile_id": PROFILE,
        "currency": "USD",
        "currency_digits": 2,
        "settings_version": "s",
    }
    entities = [
        {
            "profile_key": 1,
            "level": "campaign",
            "entity_key": n,
            "entity_id": f"{n * 7 % ENTITIES:08d}-0000",
            "name": "n",
        }
        for n in range(ENTITIES)
    ]
    of_campaign = {"profile_key": 1, "level": "campaign", "day": "2026-03-01"}
    credit = [
        {
            **of_campaign,
            "model": "last_touch",
            "entity_key": n,
            "payment_received": 1 + n % 2,
            "cash_minor": cash + n // 20,
        }
        for n in range(0, ENTITIES, 2)
    ]
    delivery = [{**of_campaign, "entity_key": n, "spend_minor": 100 + n % 3} for n in range(ENTITIES)]
    return {"profiles": [profile], "entities": entities, "credit_daily": credit, "delivery_daily": delivery}


def _walk(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    rows, cursor = [], None
    for _ in range(ENTITIES + 1):
        body = caller.get("/campaigns", **WINDOW, **query, **({"cursor": cursor} if cursor else {})).json
        rows += body["data"]
        cursor = body["meta"]["next_cursor"]
        if cursor is None:
            return rows
    raise AssertionError("the walk does not end")


@pytest.fixture
def caller(deployment: Deployment) -> Caller:
    deployment.publish(_tables(cash=1000))
    return deployment.new_caller()


@pytest.mark.parametrize("limit", [1, 7, 22, 23, 100])
def test_a_walk_gives_each_row_once_in_ranking_order(caller: Caller, limit: int) -> None:
    rows = _walk(caller, limit=limit)
    ranks = [(-row["outcome_value"], -row["outcome_count"], -row["spend"], row["campaign_id"]) for row in rows]
    assert len({row["campaign_id"] for row in rows}) == len(rows) == ENTITIES
    assert ranks == sorted(ranks)


def test_rows_total_is_the_same_on_every_page(caller: Caller) -> None:
    first = caller.get("/campaigns", **WINDOW, limit=5).json["meta"]
    second = caller.get("/campaigns", **WINDOW, limit=5, cursor=first["next_cursor"]).json["meta"]
    assert first["rows_total"] == second["rows_total"] == ENTITIES


def test_a_walk_stays_on_its_snapshot_when_another_is_published(caller: Caller, deployment: Deployment) -> None:
    before = caller.get("/campaigns", **WINDOW, limit=5).json["meta"]
    after = deployment.publish(_tables(cash=9000), token=2)
    page = caller.get("/campaigns", **WINDOW, limit=5, cursor=before["next_cursor"]).json
    assert page["meta"]["snapshot_id"] == before["snapshot_id"]
    assert {row["outcome_value"] for row in page["data"]} <= {10.0, 10.01}
    fresh = caller.get("/campaigns", **WINDOW, limit=5).json
    assert fresh["meta"]["snapshot_id"] == after
    assert fresh["data"][0]["outcome_value"] == 90.01


def test_both_names_of_the_cursor_and_another_limit_are_taken(caller: Caller) -> None:
    cursor = caller.get("/campaigns", **WINDOW, limit=5).json["meta"]["next_cursor"]
    one = caller.data(limit=3, cursor=cursor)
    assert len(one) == 3
    assert caller.data(limit=3, **{"pagination.cursor": cursor}) == one


def _refused(caller: Caller, **query: Any) -> bool:
    status, code, message = caller.refusal(**{**WINDOW, "limit": 5, **query})
    return (status, code) == (400, "invalid_parameter") and "cursor" in message


def test_a_cursor_is_refused_with_other_filters(caller: Caller) -> None:
    cursor = caller.get("/campaigns", **WINDOW, limit=5).json["meta"]["next_cursor"]
    assert _refused(caller, cursor=cursor, model="linear")
    assert _refused(caller, cursor=cursor, level="campaign")
    assert _refused(caller, cursor=cursor, date_to="2026-03-03")


def test_another_profiles_cursor_is_refused(caller: Caller, deployment: Deployment) -> None:
    cursor = caller.get("/campaigns", **WINDOW, limit=5).json["meta"]["next_cursor"]
    assert _refused(deployment.new_caller(OTHER), cursor=cursor)


def test_an_altered_cursor_is_refused_at_every_character(caller: Caller) -> None:
    cursor = caller.get("/campaigns", **WINDOW, limit=5).json["meta"]["next_cursor"]
    for place in range(0, len(cursor), 9):
        assert _refused(caller, cursor=altered(cursor, place)), place


def test_a_cursor_lives_24_hours(caller: Caller) -> None:
    with time_machine.travel("2026-11-16T00:00:00Z", tick=False) as clock:
        cursor = caller.get("/campaigns", **WINDOW, limit=5).json["meta"]["next_cursor"]
        clock.shift(pagination.LIFE_SECONDS - 1)
        assert caller.data(limit=5, cursor=cursor)
        clock.shift(1)
        assert _refused(caller, cursor=cursor)


def test_a_page_that_is_known_comes_again_while_its_cursor_leads_on(caller: Caller) -> None:
    asked: dict[str, Any] = {**WINDOW, "limit": 5}
    with time_machine.travel("2026-11-16T00:00:00Z", tick=False) as clock:
        first = caller.get("/campaigns", **asked)
        known = {"If-None-Match": first.headers["ETag"]}
        clock.shift(pagination.LIFE_SECONDS // 2 - 1)
        assert caller.get("/campaigns", headers=known, **asked).status_code == 304
        # where nothing new is published, a cache that was told 304 had only the cursor that ended, for good
        clock.shift(pagination.LIFE_SECONDS)
        again = caller.get("/campaigns", headers=known, **asked)
        assert (again.status_code, again.json["data"]) == (200, first.json["data"])
        assert caller.data(limit=5, cursor=again.json["meta"]["next_cursor"])


def test_a_cursor_whose_snapshot_is_no_longer_kept_is_refused(caller: Caller, deployment: Deployment) -> None:
    meta = caller.get("/campaigns", **WINDOW, limit=5).json["meta"]
    for token in (2, 3, 4):
        deployment.publish(_tables(cash=token), token=token)
        caller.data()
    (deployment.settings.published / f"served-{meta['snapshot_id']}.duckdb").unlink()
    assert _refused(caller, cursor=meta["next_cursor"])


def test_the_walk_of_the_guide_meets_every_row_once(deployment: Deployment) -> None:
    deployment.publish(_tables(cash=100))
    bearer = {"Authorization": f"Bearer {deployment.new_caller().key}"}
    with httpx.Client(transport=httpx.WSGITransport(app=deployment.app), headers=bearer) as client:
        walked = list(pages()(client, "http://touchledger.test/api/v1/campaigns", **WINDOW, limit=5))
    assert walked == deployment.new_caller().data(limit=100)
    assert len(walked) == ENTITIES
