"""UTM health: what a scan finds at the platform, how often one is made, and what stands when it does not finish."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from api import db, url_tags, utm_scans
from api.ad_entities import entity_id
from api.models import Profile
from sandbox.ad_catalogue import ACCOUNTS, TAGS
from tests.api.conftest import Caller
from tests.factories import accounts, connected, people, served
from tests.factories.connected import Advertiser, data, refusal
from touchledger.settings import Settings

REFRESH = "/quality/utm/refresh"
LATER = timedelta(minutes=10)


def scan(advertiser: Advertiser, **body: Any) -> dict[str, Any]:
    return data(advertiser.post(REFRESH, body))


def checks(found: dict[str, Any]) -> dict[str, int]:
    return {row["check"]: row["ads"] for row in found["checks"] if row["ads"]}


def test_a_scan_judges_every_ad_that_the_platform_shows(advertiser: Advertiser) -> None:
    connected.to_meta(advertiser.settings.operational_url, advertiser.profile, advertiser.sandbox.url, account=1)
    world = advertiser.sandbox.world
    campaigns = {row.id: row.name for row in world.campaigns}
    ads = [row for row in world.ads if row.status != "ARCHIVED"]
    badly = {name: [row for row in ads if campaigns[row.campaign_id] == name] for name in TAGS}
    lead, cart, macro, bare = (len(badly[name]) for name in TAGS)
    found = scan(advertiser)
    broken = lead + macro + bare
    assert (found["ads_scanned"], found["ads_ok"], found["ads_with_issues"]) == (len(ads), len(ads) - broken, broken)
    assert found["health_pct"] == pytest.approx(100 * (len(ads) - broken) / len(ads))
    assert (found["source"], found["refreshed"], found["platform"]) == ("live", True, None)
    assert [row["check"] for row in found["checks"]] == list(url_tags.SEVERITIES)
    assert checks(found) == {
        "missing_utm_source": bare, "missing_utm_medium": bare, "missing_ad_id": lead + bare,
        "macro_not_expanded": macro, "mixed_case_source": cart,
    }  # fmt: skip
    assert found["ads_truncated"] is False and found["accounts_skipped"] == []
    first, last = found["ads"][0], found["ads"][-1]
    assert first["issues"] == ["missing_utm_source", "missing_utm_medium", "missing_ad_id"]
    assert (first["url_tags"], first["campaign_name"]) == (None, "Trail Box EU")
    assert last["issues"] == ["mixed_case_source"]
    assert last["ad_id"] == entity_id(advertiser.profile.id, "meta", "ad", last["ad_external_id"])
    assert last["landing_host"] == "alderfinch.example"
    assert last["suggested_url_tags"] == url_tags.suggested("meta")


@pytest.mark.parametrize(
    ("broken", "verdict"), [(0, "healthy"), (1, "healthy"), (2, "caution"), (5, "caution"), (6, "poor"), (10, "poor")]
)
def test_the_verdict_follows_the_share_of_ads_without_an_error(broken: int, verdict: str) -> None:
    good, bad = url_tags.suggested("meta"), ""
    ads = [utm_scans.LinkedAd(str(n), "a", "c", None, bad if n < broken else good) for n in range(10)]
    found = utm_scans.summary(db.new_id(), utm_scans.Seen("live", [("meta", ad) for ad in ads]))
    assert (found["verdict"], found["health_pct"]) == (verdict, 100 - 10 * broken)


def test_without_an_ad_there_is_no_verdict_and_at_most_two_hundred_are_listed() -> None:
    none = utm_scans.summary(db.new_id(), utm_scans.Seen("live"))
    assert (none["health_pct"], none["verdict"], none["ads_scanned"]) == (None, None, 0)
    ads = [("meta", utm_scans.LinkedAd(str(n), f"{n:04}", "c", None, None)) for n in range(201)]
    many = utm_scans.summary(db.new_id(), utm_scans.Seen("live", ads))
    assert (len(many["ads"]), many["ads_truncated"], many["ads_with_issues"]) == (200, True, 201)
    assert [row["ad_name"] for row in many["ads"]] == [f"{n:04}" for n in range(200)]


def test_within_ten_minutes_the_summary_is_the_answer_and_asks_nobody(advertiser: Advertiser) -> None:
    assert refusal(advertiser.ask("GET", "/quality/utm"))[:2] == (404, "not_found")
    first = scan(advertiser)
    advertiser.sandbox.plan()
    again = scan(advertiser)
    assert again == {**first, "refreshed": False}
    assert data(advertiser.ask("GET", "/quality/utm")) == again
    assert advertiser.sandbox.calls() == 0
    # a scan of one platform is another answer
    assert scan(advertiser, platform="meta")["platform"] == "meta"
    with time_machine.travel(db.now() + LATER, tick=False):
        assert scan(advertiser)["refreshed"] is True


def test_a_scan_made_by_a_clock_that_was_set_back_is_made_anew(advertiser: Advertiser) -> None:
    # it was the answer until the clock had come to where it had been
    at = db.now()
    with time_machine.travel(at + timedelta(days=365), tick=False):
        assert scan(advertiser)["refreshed"] is True
    with time_machine.travel(at, tick=False):
        assert [scan(advertiser)["refreshed"] for _ in range(2)] == [True, False]


def test_six_scans_an_hour_per_credential_beside_the_request_allowance(
    advertiser: Advertiser, caller_with: Callable[..., Caller]
) -> None:
    begun = db.now()
    for turn in range(6):
        with time_machine.travel(begun + turn * LATER / 2, tick=False):
            found = advertiser.post(REFRESH, {} if turn % 2 else {"platform": "meta"})
        assert data(found)["refreshed"] is True
        assert found.headers["X-RateLimit-Remaining"] == "60"
    with time_machine.travel(begun + 6 * LATER / 2, tick=False):
        refused = advertiser.post(REFRESH, {"platform": "meta"})
        assert refusal(refused) == (429, "rate_limit_exceeded", "utm_scans_hourly")
        assert int(refused.headers["Retry-After"]) == 30 * 60
        # what was scanned is still answered, and another key has an allowance of its own
        assert scan(advertiser)["refreshed"] is False
        other = caller_with(scopes=["analytics:read"])
        assert data(other.post(REFRESH, json={"platform": "meta"}))["refreshed"] is True


def test_a_platform_that_the_profile_is_not_on_is_refused_and_costs_no_scan(advertiser: Advertiser) -> None:
    first = scan(advertiser)
    for _ in range(7):
        refused = advertiser.post(REFRESH, {"platform": "facebook"})
        assert refusal(refused)[:2] == (422, "validation_error")
    with time_machine.travel(db.now() + LATER, tick=False):
        assert data(advertiser.ask("GET", "/quality/utm")) == {**first, "refreshed": False}
        assert scan(advertiser)["refreshed"] is True


def test_the_scan_of_one_platform_does_not_hide_the_one_of_all(advertiser: Advertiser) -> None:
    one = scan(advertiser, platform="meta")
    assert data(advertiser.ask("GET", "/quality/utm")) == {**one, "refreshed": False}
    every = scan(advertiser)
    with time_machine.travel(db.now() + LATER, tick=False):
        assert scan(advertiser, platform="meta")["refreshed"] is True
        assert data(advertiser.ask("GET", "/quality/utm")) == {**every, "refreshed": False}


def test_cached_answers_have_a_bucket_too(advertiser: Advertiser) -> None:
    scan(advertiser)
    answers = [advertiser.post(REFRESH) for _ in range(31)]
    assert [one.status_code for one in answers] == [200] * 30 + [429]
    assert refusal(answers[-1]) == (429, "rate_limit_exceeded", "request_rate")


def test_a_scan_that_takes_too_long_leaves_the_summary_before_it(
    advertiser: Advertiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = scan(advertiser)
    monkeypatch.setattr(utm_scans, "BUDGET", 0.3)
    advertiser.sandbox.plan({"route": "/ads$", "kind": "delay", "seconds": 1})
    with time_machine.travel(db.now() + LATER, tick=True):
        assert refusal(advertiser.post(REFRESH)) == (504, "audit_timeout", None)
        assert data(advertiser.ask("GET", "/quality/utm")) == {**first, "refreshed": False}


@pytest.mark.parametrize(
    ("fault", "promised"),
    [
        ({"kind": "status", "status": 500}, (502, "provider_error", "unavailable")),
        ({"kind": "html", "status": 200}, (502, "provider_error", "bad_response")),
        ({"kind": "revoked"}, (409, "connection_revoked", None)),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else None,
)
def test_a_platform_that_fails_leaves_no_summary(
    advertiser: Advertiser, fault: dict[str, Any], promised: tuple[int, str, str | None]
) -> None:
    advertiser.sandbox.plan({"route": "/ads$", "times": None, **fault})
    assert refusal(advertiser.post(REFRESH)) == promised
    assert advertiser.ask("GET", "/quality/utm").status_code == 404


def test_a_lost_account_is_named_and_the_others_are_looked_at(advertiser: Advertiser) -> None:
    url = advertiser.settings.operational_url
    lost = connected.to_meta(url, advertiser.profile, advertiser.sandbox.url, account=1, token="dead")
    found = scan(advertiser)
    assert found["accounts_skipped"] == [
        {"connection_id": lost.id, "name": ACCOUNTS[1].name, "status": "reconnect_required"}
    ]
    own = [row for row in advertiser.sandbox.world.ads if row.account_id == ACCOUNTS[0].id]
    assert found["ads_scanned"] == sum(1 for row in own if row.status != "ARCHIVED")
    assert connected.reload(url, lost).status == "reconnect_required"


def test_without_a_connected_account_the_synced_tags_are_checked(
    caller_with: Callable[..., Caller], settings: Settings, profile: Profile
) -> None:
    caller = caller_with(scopes=["analytics:read"])
    facts = {"profile_key": 1, "profile_id": profile.id, "currency": "USD", "time_zone": "UTC"}
    ads = [("1", "ACTIVE", url_tags.suggested("meta")), ("2", "PAUSED", None), ("3", "ARCHIVED", None)]
    entities = [{"profile_key": 1, "level": "campaign", "entity_key": 9, "entity_id": "c", "platform": "meta",
                 "platform_id": "9", "name": "Spring", "status": "ACTIVE"}]  # fmt: skip
    # of the fourth only delivery came: it may be tagged or not
    entities += [
        {"profile_key": 1, "level": "ad", "entity_key": int(id_), "entity_id": id_, "platform": "meta",
         "platform_id": id_, "name": f"Ad {id_}", "status": status, "campaign_key": 9}
        for id_, status, _ in [*ads, ("4", None, None)]
    ]  # fmt: skip
    shown = [
        {"profile_key": 1, "entity_key": int(id_), "url_tags": tags, "landing_host": "shop.example"}
        for id_, _, tags in ads
    ]
    empty = data(caller.post(REFRESH, json={}))
    assert (empty["source"], empty["ads_scanned"], empty["verdict"]) == ("last_synced", 0, None)
    served.publish(settings.published, {"profiles": [facts], "entities": entities, "ad_creatives": shown})
    with time_machine.travel(db.now() + LATER, tick=True):
        found = data(caller.post(REFRESH, json={}))
        # its ads are known although no account is connected
        assert data(caller.post(REFRESH, json={"platform": "meta"}))["ads_scanned"] == 2
        assert refusal(caller.post(REFRESH, json={"platform": "google"}))[:2] == (422, "validation_error")
    assert (found["ads_scanned"], found["ads_ok"], found["verdict"]) == (2, 1, "caution")
    [row] = found["ads"]
    assert (row["ad_external_id"], row["campaign_name"], row["landing_host"]) == ("2", "Spring", "shop.example")


def test_an_asset_group_that_was_synced_is_told_the_macro_that_it_has(
    caller_with: Callable[..., Caller], settings: Settings, profile: Profile
) -> None:
    facts = {"profile_key": 1, "profile_id": profile.id, "currency": "USD", "time_zone": "UTC"}
    own = {"profile_key": 1, "platform": "google", "name": "Gifts", "status": "ACTIVE"}
    levels = (("ad_set", "5", 1, None), ("ad", "5", 2, 1), ("ad_set", "6", 3, None), ("ad", "7", 4, 3))
    entities = [
        {**own, "level": level, "platform_id": id_, "entity_key": key, "entity_id": f"e{key}", "ad_set_key": above}
        for level, id_, key, above in levels
    ]
    shown = [{"profile_key": 1, "entity_key": key} for key in (2, 4)]
    served.publish(settings.published, {"profiles": [facts], "entities": entities, "ad_creatives": shown})
    found = data(caller_with(scopes=["analytics:read"]).post(REFRESH, json={}))
    assert {row["ad_external_id"]: row["suggested_url_tags"] for row in found["ads"]} == {
        "5": url_tags.suggested("google", is_asset_group=True), "7": url_tags.suggested("google"),
    }  # fmt: skip


def test_a_profile_without_entitlement_may_look(settings: Settings, advertiser: Advertiser) -> None:
    app = people.app(settings.operational_url)
    with db.transaction(settings.operational_url) as session:
        row = session.get_one(Profile, advertiser.profile.id)
        row.provisioned_by_app_id, row.attribution_enabled = app.app.id, False
    assert scan(advertiser)["refreshed"] is True
    pause = advertiser.post(f"/campaigns/{advertiser.one('campaign')}/pause")
    assert refusal(pause)[:2] == (409, "entitlement_required")


def test_another_profile_does_not_see_the_scan(advertiser: Advertiser, anonymous: Caller) -> None:
    scan(advertiser)
    assert anonymous.post(REFRESH, json={}).status_code == 401
    url = advertiser.settings.operational_url
    stranger = Caller(anonymous.client, accounts.secret(url, accounts.profile(url), scopes=["analytics:read"]))
    assert stranger.get("/quality/utm").status_code == 404
