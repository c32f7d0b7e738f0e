"""A success is `{data, meta}` with the headers of the house; HEAD, OPTIONS, gzip and ETag behave as HTTP says."""

from __future__ import annotations

import gzip
import json

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api import context, responses
from api.models import Profile
from tests.api.conftest import Caller

ANY = {"If-None-Match": "*"}


def test_a_success_has_data_and_meta(caller: Caller, profile: Profile) -> None:
    response = caller.get("/notes?limit=1")
    assert response.status_code == 200
    body = response.get_json()
    assert set(body) == {"data", "meta"}
    assert body["data"][0]["id"] == "0"
    assert body["meta"] == {"profile_id": profile.id, "asked": 1}


def test_every_answer_carries_the_security_headers(client: FlaskClient, caller: Caller) -> None:
    for response in (caller.get("/notes"), client.get("/nowhere"), client.get("/"), client.options("/api/v1/notes")):
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Strict-Transport-Security"].startswith("max-age=31536000")
        assert response.headers["X-Request-Id"].startswith("req_")
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]


def test_no_browser_of_another_origin_is_let_in(caller: Caller) -> None:
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"}
    for response in (caller.get("/notes", headers=headers), caller("OPTIONS", "/notes", headers=headers)):
        assert not [name for name in response.headers if name[0].lower().startswith("access-control-")]


def test_operational_answers_are_not_stored(caller: Caller, anonymous: Caller) -> None:
    assert caller.get("/notes").headers["Cache-Control"] == "no-store"
    assert anonymous.get("/notes").headers["Cache-Control"] == "no-store"


def test_head_is_get_without_a_body_at_the_same_cost(caller: Caller) -> None:
    full, head = caller.get("/notes"), caller("HEAD", "/notes")
    assert head.status_code == 200
    assert head.data == b""
    assert head.headers["Content-Length"] == full.headers["Content-Length"]
    assert head.headers["X-RateLimit-Remaining"] == "58"


def test_options_needs_no_key_and_costs_nothing(anonymous: Caller, caller: Caller) -> None:
    response = anonymous("OPTIONS", "/notes")
    assert (response.status_code, response.data) == (204, b"")
    assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}
    assert caller.get("/notes").headers["X-RateLimit-Remaining"] == "59"


def test_the_wrong_kind_of_credential_is_told_its_allowance_and_pays_nothing(caller: Caller) -> None:
    for _ in range(2):
        refused = caller("PUT", "/workspaces/01900000-0000-7000-8000-00000000ffff/mcp-settings", json={})
        assert refused.status_code == 403
        assert refused.headers["X-RateLimit-Limit"] == refused.headers["X-RateLimit-Remaining"] == "60"
    assert caller.get("/notes").headers["X-RateLimit-Remaining"] == "59"


def test_answers_over_a_kibibyte_are_compressed_when_asked(caller: Caller) -> None:
    plain = caller.get("/notes?limit=100")
    packed = caller.get("/notes?limit=100", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data)
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(("limit", "accepted"), [(1, "gzip"), (100, "br"), (100, "gzip;q=0"), (100, "identity")])
def test_small_answers_and_other_wishes_stay_plain(caller: Caller, limit: int, accepted: str) -> None:
    response = caller.get(f"/notes?limit={limit}", headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in response.headers
    assert json.loads(response.data)["meta"]["asked"] == limit


def test_a_known_etag_ends_in_304_with_its_caching_headers() -> None:
    app = Flask("conditional")
    app.after_request(responses.finish)

    @app.get("/figures")
    def figures() -> str:
        responses.conditional("abc.1")
        return context.request_id()

    client = app.test_client()
    first = client.get("/figures")
    assert first.headers["ETag"] == 'W/"abc.1"'
    again = client.get("/figures", headers={"If-None-Match": '"other", W/"abc.1"'})
    assert (again.status_code, again.data) == (304, b"")
    for name in ("ETag", "Cache-Control"):
        assert again.headers[name] == first.headers[name]
    assert again.headers["Cache-Control"] == "private, no-cache"
    assert "Authorization" in again.headers["Vary"]
    assert client.get("/figures", headers={"If-None-Match": 'W/"abc.2"'}).status_code == 200


@pytest.mark.parametrize("known", ["*", 'W/"abc.1"', '"abc.1"', '"other" , W/"abc.1"'])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_every_way_to_say_what_is_known_ends_in_the_same_304(client: FlaskClient, method: str, known: str) -> None:
    path = "/openapi.json"
    tag = client.get(path).headers["ETag"]
    sent = {"If-None-Match": known.replace('W/"abc.1"', tag).replace('"abc.1"', tag.removeprefix("W/"))}
    again = client.open(path, method=method, headers={**sent, "Accept-Encoding": "gzip"})
    assert (again.status_code, again.data) == (304, b"")
    assert not {"Content-Type", "Content-Length", "Content-Encoding"} & set(dict(again.headers))
    whole = client.open(path, method=method, headers={"Accept-Encoding": "gzip"})
    for name in ("ETag", "Cache-Control", "Vary"):
        assert again.headers[name] == whole.headers[name]


def test_an_answer_without_a_tag_is_always_whole(client: FlaskClient, caller: Caller) -> None:
    for response in (client.get("/docs", headers=ANY), caller.get("/notes", headers=ANY)):
        assert response.status_code == 200
        assert response.data


def test_a_tag_on_a_second_line_is_seen_too(client: FlaskClient) -> None:
    tag = client.get("/openapi.json").headers["ETag"]
    lines = [("If-None-Match", '"other"'), ("If-None-Match", tag)]
    assert client.get("/openapi.json", headers=lines).status_code == 304
