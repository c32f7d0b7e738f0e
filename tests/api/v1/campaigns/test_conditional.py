"""ETags of the campaign reads: the same answer has the same tag, and a known tag is answered without a body."""

from __future__ import annotations

import pytest

from tests.api.v1.campaigns.conftest import GOLDEN, OTHER, WINDOW, Caller, Deployment
from tests.factories import served

ID = "aaaaaaaa-0000-8000-8000-000000000011"
READS = [("/campaigns", {}), ("/campaigns/trend", {"entity_ids": ID}), ("/campaigns/unattributed", {})]


def _tag(caller: Caller, path: str = "/campaigns", **query: str) -> str:
    response = caller.get(path, **{**WINDOW, **query})
    assert response.status_code == 200
    return response.headers["ETag"]


@pytest.mark.parametrize(("path", "query"), READS)
def test_a_known_tag_is_answered_with_304_and_no_body(caller: Caller, path: str, query: dict[str, str]) -> None:
    tag = _tag(caller, path, **query)
    response = caller.get(path, **WINDOW, **query, headers={"If-None-Match": tag})
    assert (response.status_code, response.data) == (304, b"")
    assert response.headers["ETag"] == tag
    assert response.headers["Vary"] == "Authorization, Accept-Encoding"
    assert not {"Content-Type", "Content-Length"} & set(response.headers.keys())


def test_the_tag_is_weak_and_names_snapshot_and_settings(caller: Caller) -> None:
    response = caller.get("/campaigns", **WINDOW)
    snapshot_id = response.json["meta"]["snapshot_id"]
    assert response.headers["ETag"].startswith(f'W/"{snapshot_id}.settings-one.')


def test_caches_may_keep_the_answer_for_one_caller_and_must_ask_again(caller: Caller) -> None:
    headers = caller.get("/campaigns", **WINDOW).headers
    assert headers["Cache-Control"] == "private, no-cache"
    assert {name.strip() for name in headers["Vary"].split(",")} == {"Authorization", "Accept-Encoding"}


def test_a_default_spelt_out_is_the_same_answer(caller: Caller) -> None:
    assert _tag(caller) == _tag(caller, model="last_touch", limit="10")


def test_every_other_query_has_another_tag(caller: Caller, golden: Deployment) -> None:
    queries = [
        {},
        {"model": "linear"},
        {"level": "campaign"},
        {"level": "ad"},
        {"level": "ad", "campaign_external_id": "101"},
        {"limit": "2"},
        {"date_to": "2026-03-03"},
    ]
    tags = [_tag(caller, **query) for query in queries]
    tags += [_tag(caller, "/campaigns/unattributed"), _tag(golden.new_caller(OTHER))]
    assert len(set(tags)) == len(tags)


def test_a_new_snapshot_has_new_tags(deployment: Deployment) -> None:
    deployment.publish(served.from_csv(GOLDEN))
    caller = deployment.new_caller()
    tag = _tag(caller)
    deployment.publish(served.from_csv(GOLDEN), token=2)
    response = caller.get("/campaigns", **WINDOW, headers={"If-None-Match": tag})
    assert response.status_code == 200
    assert response.headers["ETag"] != tag


def test_a_tag_does_not_open_what_the_key_does_not(caller: Caller) -> None:
    tag = _tag(caller)
    caller.key = ""
    assert caller.get("/campaigns", **WINDOW, headers={"If-None-Match": tag}).status_code == 401


def test_a_refused_request_carries_no_tag(caller: Caller) -> None:
    response = caller.get("/campaigns", **WINDOW, model="none", headers={"If-None-Match": "*"})
    assert response.status_code == 400
    assert "ETag" not in response.headers
    assert response.headers["Cache-Control"] == "no-store"


def test_a_long_answer_is_compressed_on_request(caller: Caller) -> None:
    response = caller.get("/campaigns", **WINDOW, level="campaign", headers={"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
