"""Every status of the collector, and that what is acknowledged is kept once, however often it comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.collecting import keeping
from api.models import CollectedEvent, IngestedRecord, Profile, TrackingKey
from tests.factories import accounts, tracked
from tests.factories.deployments import application, settings_of
from touchledger.settings import Settings

CHROME = (
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36"
)


def kept(url: str) -> int:
    with db.transaction(url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(CollectedEvent)) or 0


def code(answer: TestResponse) -> tuple[int, str, str | None]:
    error = answer.json["error"]
    return answer.status_code, error["code"], error.get("reason")


def test_an_event_is_acknowledged_with_an_empty_object_that_any_page_may_read(client: FlaskClient, key: str) -> None:
    answer = tracked.send(client, tracked.event(key))
    assert (answer.status_code, answer.json) == (202, {})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_a_beacon_may_say_that_it_is_plain_text_and_name_its_key_in_a_header(client: FlaskClient, key: str) -> None:
    body = json.dumps(tracked.event(key, trackingKey=None))
    headers = {"User-Agent": tracked.AGENT, "X-Tracking-Key": key}
    answer = client.post("/api/tracking/collect", data=body, content_type="text/plain;charset=UTF-8", headers=headers)
    assert answer.status_code == 202


@pytest.mark.parametrize("path", ["collect", "identity-signal"])
def test_a_page_may_ask_beforehand_and_shows_no_key_for_it(client: FlaskClient, path: str) -> None:
    answer = client.options(f"/api/tracking/{path}")
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Access-Control-Allow-Origin" not in client.options("/api/v1/campaigns").headers


@pytest.mark.parametrize(
    ("changes", "headers", "expected"),
    [
        ({"trackingKey": None}, {}, (401, "unauthorized", None)),
        ({"trackingKey": 7}, {}, (401, "unauthorized", None)),
        ({"trackingKey": tracked.UNKNOWN_KEY}, {}, (401, "unauthorized", None)),
        ({}, {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"}, (403, "forbidden", "automated_visitor")),
        ({}, {"User-Agent": f"{CHROME} (compatible; GoogleOther)"}, (403, "forbidden", "automated_visitor")),
        ({}, {"User-Agent": f"{CHROME} (compatible; TikTokSpider)"}, (403, "forbidden", "automated_visitor")),
        ({}, {"User-Agent": f"{CHROME} (compatible; Claude-User/1.0)"}, (403, "forbidden", "automated_visitor")),
        (
            {},
            {"User-Agent": f"{CHROME} (YandexMetrika; +http://yandex.com/bots)"},
            (403, "forbidden", "automated_visitor"),
        ),
        ({}, {"User-Agent": "meta-webindexer/1.1"}, (403, "forbidden", "automated_visitor")),
        ({}, {"User-Agent": ""}, (403, "forbidden", "automated_visitor")),
        ({"eventId": None}, {}, (422, "validation_error", None)),
        ({"eventId": "e" * 129}, {}, (422, "validation_error", None)),
        ({"eventName": " "}, {}, (422, "validation_error", None)),
        ({"eventTimeClient": "yesterday"}, {}, (422, "validation_error", None)),
        ({"eventTimeClient": "2026-03-05T14:02:11"}, {}, (422, "validation_error", None)),
        ({"eventTimeClient": True}, {}, (422, "validation_error", None)),
        ({"anonymousId": None}, {}, (422, "validation_error", None)),
        ({"sessionId": ["a"]}, {}, (422, "validation_error", None)),
        ({"pageUrl": "javascript:alert(1)"}, {}, (422, "validation_error", None)),
        ({"pageUrl": "https://[broken"}, {}, (422, "validation_error", None)),
        ({"utm": "a"}, {}, (422, "validation_error", None)),
        ({"clickIds": {f"c{number}": "1" for number in range(17)}}, {}, (422, "validation_error", None)),
        ({"valueAmount": -1, "currency": "USD"}, {}, (422, "validation_error", None)),
        ({"valueAmount": "NaN", "currency": "USD"}, {}, (422, "validation_error", None)),
        ({"valueAmount": "-Infinity", "currency": "USD"}, {}, (422, "validation_error", None)),
        ({"valueAmount": "1_000", "currency": "USD"}, {}, (422, "validation_error", None)),
        ({"valueAmount": "\u0661\u0662", "currency": "USD"}, {}, (422, "validation_error", None)),
        ({"valueAmount": 1}, {}, (422, "validation_error", None)),
        ({"valueAmount": 1, "currency": "XXQ"}, {}, (422, "validation_error", None)),
        ({"consent": ["denied"]}, {}, (422, "validation_error", None)),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_of_it_is_kept(
    client: FlaskClient,
    settings: Settings,
    key: str,
    changes: dict[str, Any],
    headers: dict[str, str],
    expected: tuple[int, str, str | None],
) -> None:
    answer = tracked.send(client, {**tracked.event(key), **changes}, headers=headers)
    assert code(answer) == expected
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert kept(settings.operational_url) == 0


@pytest.mark.parametrize(
    ("name", "longest"),
    [("eventId", 128), ("eventName", 64), ("anonymousId", 128), ("sessionId", 128), ("order_id", 190), ("userId", 128)],
)
def test_a_text_of_just_its_bound_is_kept_and_a_longer_one_refused(
    client: FlaskClient, settings: Settings, key: str, name: str, longest: int
) -> None:
    answers = [tracked.send(client, {**tracked.event(key), name: "e" * size}) for size in (longest + 1, longest)]
    assert [one.status_code for one in answers] == [422, 202]
    assert kept(settings.operational_url) == 1


def test_as_many_click_ids_as_may_be_told_are(client: FlaskClient, key: str) -> None:
    ids = {f"c{number}": "1" for number in range(16)}
    assert tracked.send(client, {**tracked.event(key), "clickIds": ids}).status_code == 202


@pytest.mark.parametrize(
    ("body", "options", "status"),
    [
        (b"{", {"content_type": "application/json"}, 400),
        (b"[]", {"content_type": "application/json"}, 400),
        (b'{"a":1,"a":2}', {"content_type": "text/plain"}, 400),
        (b"{}", {"content_type": "application/x-www-form-urlencoded"}, 400),
        (b"{}", {"content_type": "application/json", "headers": {"Content-Encoding": "gzip"}}, 400),
        (b" " * (60 * 1024 + 1), {"content_type": "text/plain"}, 413),
    ],
)
def test_what_is_no_json_object_is_refused(
    client: FlaskClient, body: bytes, options: dict[str, Any], status: int
) -> None:
    assert client.post("/api/tracking/collect", data=body, **options).status_code == status


@pytest.mark.parametrize("path", ["collect", "identity-signal", "verification/beacon"])
@pytest.mark.parametrize("size", [60 * 1024 + 1, 1024 * 1024 + 1])
def test_a_body_that_is_too_large_is_told_the_bound_that_holds(client: FlaskClient, path: str, size: int) -> None:
    answer = client.post(f"/api/tracking/{path}", data=b" " * size, content_type="text/plain")
    assert (code(answer)[:2], answer.get_json()["error"]["message"]) == (
        (413, "payload_too_large"),
        "The body may hold at most 61440 bytes.",
    )


def test_a_revoked_key_and_an_archived_profile_are_gone(client: FlaskClient, settings: Settings) -> None:
    url = settings.operational_url
    revoked = tracked.key(url, accounts.profile(url), revoked_at=db.now())
    archived = accounts.profile(url)
    of_archived = tracked.key(url, archived)
    with db.transaction(url) as session:
        session.get_one(Profile, archived.id).archived_at = db.now()
    assert [tracked.send(client, tracked.event(one)).status_code for one in (revoked, of_archived)] == [410, 410]


@pytest.mark.parametrize(
    ("page", "origin", "status"),
    [
        ("https://shop.example/a", "https://shop.example", 202),
        ("https://WWW.shop.example:8443/a", None, 202),
        ("https://notshop.example/a", None, 403),
        ("https://shop.example.evil.test/a", None, 403),
        ("https://shop.example/a", "https://evil.test", 403),
    ],
)
def test_a_key_with_hosts_collects_from_these_and_what_lies_under_them(
    client: FlaskClient, settings: Settings, profile: Profile, page: str, origin: str | None, status: int
) -> None:
    key = tracked.key(settings.operational_url, profile, allowed_hosts=["shop.example"])
    headers = {"Origin": origin} if origin else {}
    assert tracked.send(client, tracked.event(key, pageUrl=page), headers=headers).status_code == status


@pytest.mark.parametrize(("limit", "other"), [("PER_ADDRESS", "10.0.0.2"), ("PER_KEY", "127.0.0.1")])
def test_a_key_and_an_address_have_their_own_allowance(
    client: FlaskClient,
    settings: Settings,
    profile: Profile,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    other: str,
) -> None:
    monkeypatch.setattr(keeping, limit, 2)
    # what cannot be is charged as well: it costs as much
    statuses = [tracked.send(client, tracked.event(key, eventId=one)).status_code for one in ("a", None, "c")]
    assert statuses == [202, 422, 429]
    refused = tracked.send(client, tracked.event(key))
    assert code(refused) == (429, "rate_limit_exceeded", "request_rate")
    assert 55 <= int(refused.headers["Retry-After"]) <= 61
    elsewhere = tracked.event(key if limit == "PER_ADDRESS" else tracked.key(settings.operational_url, profile))
    assert tracked.send(client, elsewhere, environ_base={"REMOTE_ADDR": other}).status_code == 202


def test_fifty_deliveries_of_one_event_at_once_have_one_effect(database_url: str, home: Any) -> None:
    settings = settings_of(home, database_url)
    app = application(settings)
    profile = accounts.profile(database_url)
    key = tracked.key(database_url, profile)
    same = tracked.event(key, eventName="lead_submitted", userId="u-1")
    others = [tracked.event(key, sessionId=f"s{number}", anonymousId=f"b{number}") for number in range(10)]

    def deliver(body: dict[str, Any]) -> int:
        return tracked.send(app.test_client(), body).status_code

    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(deliver, [same] * 50 + others)) == {202}
    assert kept(database_url) == 11
    with db.transaction(database_url) as session:
        found = sa.select(IngestedRecord.dataset, sa.func.count()).group_by(IngestedRecord.dataset)
        counts = [tuple(row) for row in session.execute(found.order_by(IngestedRecord.dataset))]
    assert counts == [("conversions", 1), ("identities", 1), ("touches", 11)]


def test_an_event_id_is_known_for_ever_in_its_own_profile_only(
    client: FlaskClient, settings: Settings, tell: Callable[..., TestResponse]
) -> None:
    url = settings.operational_url
    tell(eventId="e-1", eventName="lead_created")
    with db.transaction(url) as session:
        session.execute(sa.update(CollectedEvent).values(body=None, landed_batch="landed long ago"))
    tell(eventId="e-1", eventName="lead_created", pageUrl=f"{tracked.SHOP}?ad_id=9")
    assert kept(url) == 1
    other = accounts.profile(url)
    assert tracked.send(client, tracked.event(tracked.key(url, other), eventId="e-1")).status_code == 202
    assert kept(url) == 2


def test_a_key_tells_when_it_was_last_seen(settings: Settings, key: str, tell: Callable[..., TestResponse]) -> None:
    begun = db.now()
    tell()
    with db.transaction(settings.operational_url) as session:
        seen = session.scalars(sa.select(TrackingKey.last_seen_at).where(TrackingKey.key == key)).one()
    assert seen is not None
    assert begun <= seen <= db.now()


def test_one_event_that_fails_does_not_take_those_beside_it_along(database_url: str) -> None:
    from api.collecting.together import Together

    def keep(_session: Any, items: Any) -> list[int]:
        if 3 in items:
            raise ValueError("three")
        return [item * 2 for item in items]

    together: Together[int, int] = Together(database_url, keep)

    def tried(item: int) -> int | str | None:
        try:
            return together(item)
        except ValueError as problem:
            return str(problem)

    with together._turn, ThreadPoolExecutor(6) as pool:
        waiting = [pool.submit(tried, item) for item in range(6)]
        while len(together._queue) < 6:
            pass
        together._turn.release()
        found = [one.result() for one in waiting]
        together._turn.acquire()
    assert found == [0, 2, 4, "three", 8, 10]
