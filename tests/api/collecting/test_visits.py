"""What opens a visit, and what its touch tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.models import CollectedEvent, Profile, TrackerSettings
from data_contracts.contract import inbound, internal
from data_contracts.judge import judge
from tests.factories import tracked
from tests.factories.tracked import PHONE_AGENT, SHOP
from touchledger.settings import Settings

Tell = Callable[..., TestResponse]
Became = Callable[[str], list[dict[str, Any]]]
AD = "utm_source=meta&utm_medium=paid&utm_campaign=Spring&ad_platform=META&campaign_id=c1&adset_id=s1&ad_id=a1"


def test_a_visit_from_an_ad_is_one_touch_with_everything_its_address_tells(tell: Tell, became: Became) -> None:
    tell(pageUrl=f"{SHOP}?{AD}&fbclid=click-1#top", referrer="https://l.facebook.com/l.php?u=x", ago=60)
    tell(pageUrl=f"{SHOP}?{AD}&fbclid=click-1", ago=50)
    tell(pageUrl="https://shop.example/cart", utm={"source": "meta"}, clickIds={"fbclid": "click-1"}, ago=40)
    (touch,) = became("touches")
    assert judge(inbound()["touches"], [touch]).rejected == []
    assert {name: value for name, value in touch.items() if name not in ("touch_key", "occurred_at")} == {
        "anonymous_id": "browser-1", "session_id": "session-1", "channel": "web", "origin": "web", "is_direct": False,
        "ad_platform": "meta", "campaign_id": "c1", "ad_set_id": "s1", "ad_id": "a1",
        "click_id_type": "fbclid", "click_id": "click-1",
        "utm_source": "meta", "utm_medium": "paid", "utm_campaign": "Spring",
        "referrer_host": "l.facebook.com", "landing_host": "shop.example",
    }  # fmt: skip


def test_a_parameter_that_no_record_may_hold_does_not_take_the_visit_along(tell: Tell, became: Became) -> None:
    tell(pageUrl=f"{SHOP}?utm_source=meta&utm_campaign=Spring%00&ad_id=a%001&fbclid=%00&utm_medium=%ff")
    (touch,) = became("touches")
    named = {name: value for name, value in touch.items() if name.startswith(("utm_", "ad_", "click_"))}
    assert named == {"utm_source": "meta", "utm_medium": "\ufffd"}


def test_another_ad_in_the_same_session_is_another_touch(tell: Tell, became: Became) -> None:
    for ad in ("a1", "a2", "a1"):
        tell(pageUrl=f"{SHOP}?ad_id={ad}")
    assert [touch["ad_id"] for touch in became("touches")] == ["a1", "a2"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"is_direct": True}),
        ({"referrer": "https://www.google.com/"}, {"is_direct": False, "referrer_host": "www.google.com"}),
        (
            {"referrer": "android-app://com.reddit.frontpage"},
            {"is_direct": False, "referrer_host": "com.reddit.frontpage"},
        ),
        (
            {"utm": {"source": "news", "medium": "email"}},
            {"is_direct": False, "utm_source": "news", "utm_medium": "email"},
        ),
        (
            {"clickIds": {"GCLID": "g-1", "other": "o"}},
            {"is_direct": False, "click_id_type": "gclid", "click_id": "g-1"},
        ),
    ],
)
def test_the_first_event_of_a_session_opens_its_visit(
    tell: Tell, became: Became, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    tell(ago=30, **changes)
    tell(ago=20, referrer="https://pay.example/")
    (touch,) = became("touches")
    own = {"is_direct", "referrer_host", "utm_source", "utm_medium", "click_id_type", "click_id"}
    assert {name: touch[name] for name in own & touch.keys()} == expected
    assert judge(inbound()["touches"], [touch]).rejected == []


def test_a_page_reached_from_the_site_itself_opens_nothing(tell: Tell, became: Became) -> None:
    tell(referrer="https://www.shop.example/", sessionId="s")
    assert became("touches") == []


@pytest.mark.parametrize(("away", "touches"), [(29, 1), (31, 2)])
def test_whoever_comes_back_after_half_an_hour_opens_another_visit(
    tell: Tell, became: Became, away: int, touches: int
) -> None:
    tell(ago=3600)
    tell(ago=3600 - away * 60)
    assert len(became("touches")) == touches


def test_an_arrival_that_is_told_late_is_still_the_touch_of_its_visit(tell: Tell, became: Became) -> None:
    tell(ago=10, referrer="https://shop.example/landing", pageUrl="https://shop.example/cart")
    tell(ago=60, referrer="https://www.bing.com/")
    (touch,) = became("touches")
    assert touch["referrer_host"] == "www.bing.com"


def test_metas_cookie_dates_the_click_it_is_about_and_no_other(tell: Tell, became: Became) -> None:
    clicked = (db.now() - timedelta(hours=2)).replace(microsecond=0)
    milliseconds = int(clicked.timestamp() * 1000)
    tell(pageUrl=f"{SHOP}?fbclid=click-1", fbc=f"fb.1.{milliseconds}.click-1", sessionId="a", ago=60)
    tell(pageUrl=f"{SHOP}?fbclid=click-2", fbc=f"fb.1.{milliseconds}.click-1", sessionId="b", ago=50)
    tell(fbc=f"fb.1.{milliseconds}.click-1", sessionId="c", ago=40)
    first, second, third = became("touches")
    assert datetime.fromisoformat(first["occurred_at"]) == clicked
    assert datetime.fromisoformat(second["occurred_at"]) > db.now() - timedelta(minutes=2)
    assert (third["is_direct"], third.get("click_id")) == (True, None)


@pytest.mark.parametrize(
    ("told", "is_believed"),
    [
        (timedelta(days=-29), True),
        (timedelta(days=-31), False),
        (timedelta(hours=1), False),
    ],
)
def test_a_late_event_happened_when_it_says_unless_that_cannot_be(
    tell: Tell, became: Became, told: timedelta, is_believed: bool
) -> None:
    at = db.now() + told
    tell(eventTimeClient=int(at.timestamp() * 1000))
    (touch,) = became("touches")
    occurred = datetime.fromisoformat(touch["occurred_at"])
    assert (abs(occurred - at) < timedelta(seconds=1)) == is_believed
    assert is_believed or abs(occurred - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("changes", "headers", "expected"),
    [
        ({}, {}, None),
        ({"consent": {"marketing": True}}, {}, True),
        ({"consent": {"marketing": False, "analytics": True}}, {}, False),
        ({"consent": {"ad_user_data": "denied", "ad_storage": "granted"}}, {}, False),
        ({"consent": {"marketing": "deny"}}, {}, False),
        ({"consent": {"marketing": 0}}, {}, False),
        ({"consent": {"marketing": 1}}, {}, True),
        ({"consent": {"analytics": False}}, {}, None),
        ({"consent": True}, {}, True),
        ({"consent": False}, {}, False),
        ({"consent": "denied"}, {}, False),
        ({"consent": " Granted"}, {}, True),
        ({"consent": {"marketing": "REJECTED"}}, {}, False),
        ({"consent": {"marketing": "", "ads": None}}, {}, None),
        ({"consent": {"marketing": True, "ad_storage": "limited"}}, {}, False),
        ({"consent": {"ads": {"granted": False}}}, {}, False),
        ({"consent": {"ads": ["granted"]}}, {}, False),
        ({"consent": {"ads": 0.5}}, {}, False),
        ({"consent": "perhaps"}, {}, False),
        ({"consent": 1.0}, {}, True),
        ({"consent": {"marketing": True}}, {"Sec-GPC": "1"}, False),
        ({"gpc": True}, {}, False),
    ],
)
def test_what_is_not_consented_to_is_counted_and_marked(
    tell: Tell, became: Became, changes: dict[str, Any], headers: dict[str, str], expected: bool | None
) -> None:
    tell(headers, **changes)
    (touch,) = became("touches")
    assert touch.get("consent_marketing") is expected


def test_a_site_goes_by_the_settings_of_its_tracker(
    client: FlaskClient, tell: Tell, became: Became, settings: Settings, profile: Profile, key: str
) -> None:
    with db.transaction(settings.operational_url) as session:
        session.add(TrackerSettings(profile_id=profile.id, session_idle_minutes=5, respect_gpc=False))
    signal = {"Sec-GPC": "1"}
    for ago, consent in ((900, None), (540, {"marketing": True}), (240, {"marketing": False})):
        tell(signal, ago=ago, consent=consent)
    tell(signal, ago=10)
    assert [touch.get("consent_marketing") for touch in became("touches")] == [None, True, False]
    typed = {"trackingKey": key, "anonymousId": "b", "idType": "email", "idValue": "ann@example.com", "pageUrl": SHOP}
    body = {**typed, "capturedAt": int(db.now().timestamp() * 1000)}
    assert tracked.send(client, body, "identity-signal", headers=signal).status_code == 202
    assert [row["value_b"] for row in became("identities")] == ["ann@example.com"]
    with db.transaction(settings.operational_url) as session:
        session.get_one(TrackerSettings, profile.id).capture_typed_identity = False
    assert tracked.send(client, {**body, "idValue": "bob@example.com"}, "identity-signal").status_code == 202
    assert len(became("identities")) == 1


def test_of_an_address_only_its_host_and_its_labels_are_kept(tell: Tell, became: Became, settings: Settings) -> None:
    page = f"{SHOP}/private-path?q=secret-word&ad_id=1#private-part"
    tell({"User-Agent": PHONE_AGENT}, pageUrl=page, referrer="https://news.example/private-path", payload={"own": 1})
    with db.transaction(settings.operational_url) as session:
        (body,) = session.scalars(sa.select(CollectedEvent.body))
    assert body is not None
    own = {"device": "mobile", "channel": "paid", "page_host": "shop.example", "referrer_host": "news.example"}
    assert {**own, "x_raw": {"payload": {"own": 1}}, "opens_visit": True}.items() <= body.items()
    told = str([body, became("touches")])
    assert not any(word in told for word in ("private", "secret"))
    assert judge(internal()["page_events"], [body]).rejected == []


@pytest.mark.parametrize("odd", [10**30, "half a pair \ud83d"])
@pytest.mark.parametrize("length", [20, 17_000])
def test_an_odd_value_loses_nothing_of_what_stands_beside_it(
    client: FlaskClient, key: str, settings: Settings, odd: object, length: int
) -> None:
    payload = {"odd": odd, "own": "x" * length}
    sent = json.dumps(tracked.event(key, payload=payload, consent={"ads": True, "own": False}))
    headers = {"User-Agent": tracked.AGENT, "Content-Type": "application/json"}
    assert client.post("/api/tracking/collect", data=sent, headers=headers).status_code == 202
    with db.transaction(settings.operational_url) as session:
        (body,) = session.scalars(sa.select(CollectedEvent.body))
    raw = {"payload": payload, "consent": {"ads": True, "own": False}} if length < 16_384 else {"too_large": True}
    assert body is not None
    assert (body["x_raw"], body["consent_marketing"]) == (raw, True)
    assert judge(internal()["page_events"], [body]).rejected == []
