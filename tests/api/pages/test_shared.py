"""GET /shared/{token}: a page or JSON, for anybody with the link, as often as once a second, until it ends."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.models import Branding, Profile, SharedSnapshot
from tests.factories import accounts, shared

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "top_performers" / "answers" / "workspace.json"
ROWS: list[dict[str, Any]] = json.loads(GOLDEN.read_text())
JSON = {"Accept": "application/json"}
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def url(settings: Any) -> str:
    return str(settings.operational_url)


@pytest.fixture
def token(url: str, profile: Profile) -> str:
    return shared.snapshot(url, [profile], rows=ROWS, title="Spring <b>sale</b>", filters={"min_spend": 2.5})[1]


def page(client: FlaskClient, token: str, headers: dict[str, str] = HTML, query: str = "") -> TestResponse:
    return client.get(f"/shared/{token}{query}", headers=headers)


def test_json_is_the_frozen_snapshot(client: FlaskClient, token: str) -> None:
    answer = page(client, token, JSON)
    assert answer.status_code == 200 and answer.mimetype == "application/json"
    told = answer.get_json()["data"]
    assert told["rows"] == ROWS
    assert re.fullmatch(r"2\d{3}-.*Z", told.pop("captured_at")) and told.pop("expires_at")
    assert {name: value for name, value in told.items() if name != "rows"} == {
        "title": "Spring <b>sale</b>",
        "shared_by": "Shop",
        "score_window": "28d",
        "score_date": "2026-03-10",
        "config_version": 1,
        "filters": {"min_spend": 2.5},
        "hide_money": False,
        "currency": "USD",
    }


def test_whoever_does_not_ask_for_json_gets_the_page(client: FlaskClient, token: str) -> None:
    for headers in (HTML, {}, {"Accept": "*/*"}, {"Accept": "text/html, application/json"}):
        assert page(client, token, headers).mimetype == "text/html"


def test_nobody_indexes_frames_or_keeps_it_and_nothing_else_is_loaded(client: FlaskClient, token: str) -> None:
    for headers in (HTML, JSON):
        answer = page(client, token, headers)
        assert "noindex" in answer.headers["X-Robots-Tag"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["Vary"] == "Accept, Accept-Language, Accept-Encoding"
    policy = page(client, token).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "script-src" not in policy and "unsafe" not in policy and "http" not in policy
    text = page(client, token).text
    assert '<meta name="robots" content="noindex, nofollow">' in text
    assert "https://cdn.example" not in text and "<script" not in text and " style=" not in text


def test_until_when_the_link_opens_is_told_to_the_minute_with_its_zone(
    client: FlaskClient, url: str, profile: Profile
) -> None:
    ends = datetime(2099, 12, 27, 0, 5, tzinfo=UTC)
    _, token = shared.snapshot(url, [profile], rows=ROWS, expires_at=ends)
    assert "this link opens until Dec 27, 2099, 00:05 UTC." in page(client, token).text
    assert "se abre hasta el 27 dic 2099, 00:05 UTC." in page(client, token, query="?lang=es").text
    assert re.search(r"Frozen on \w{3} \d+, 20\d\d, \d\d:\d\d UTC\.", page(client, token).text)


def test_what_other_people_wrote_is_text(client: FlaskClient, url: str, profile: Profile) -> None:
    hostile = [{**ROWS[0], "ad_name": "</style><script>alert(1)</script>", "campaign_name": '"><img src=x>'}]
    _, token = shared.snapshot(url, [profile], rows=hostile)
    text = page(client, token).text
    assert "&lt;/style&gt;&lt;script&gt;alert(1)" in text
    assert "<script>" not in text and "<img" not in text


@pytest.mark.parametrize(
    ("header", "query", "words"),
    [
        ("es-MX,es;q=0.9,en;q=0.5", "", "Por qué ocupa este puesto"),
        ("en-GB", "", "Why it ranks so"),
        ("de", "", "Por qué ocupa este puesto"),
        ("en", "?lang=es", "Por qué ocupa este puesto"),
        ("es", "?lang=en", "Why it ranks so"),
        ("es", "?lang=fr&utm_source=mail", "Por qué ocupa este puesto"),
    ],
)
def test_it_speaks_the_readers_language_else_the_workspaces(
    client: FlaskClient, url: str, profile: Profile, token: str, header: str, query: str, words: str
) -> None:
    with db.transaction(url) as session:
        session.add(Branding(workspace_id=profile.workspace_id, locale="es"))
    answer = page(client, token, {**HTML, "Accept-Language": header}, query)
    assert words in answer.text
    assert f'<html lang="{answer.headers["Content-Language"]}">' in answer.text


def test_it_looks_like_the_workspace(client: FlaskClient, url: str, profile: Profile, token: str) -> None:
    with db.transaction(url) as session:
        looks = {"display_name": "Agency & Sons", "primary_color": "#AA00bb", "accent_color": "red;}"}
        more = {"website_url": "javascript:alert(1)", "report_footer": "Street 1", "logo_name": f"{'a' * 32}.png"}
        session.add(Branding(workspace_id=profile.workspace_id, **looks, **more))
    text = page(client, token).text
    assert "Agency &amp; Sons" in text and "Street 1" in text
    assert "--tint-1:#AA00bb;--tint-2:#d9822b;" in text
    assert f'<img src="/logos/{"a" * 32}.png" alt="">' in text
    assert "javascript:" not in text


def test_provisional_ads_are_said_to_be(client: FlaskClient, url: str, profile: Profile) -> None:
    rows = [{**ROWS[0], "maturity_stage": stage} for stage in ("mature", "early", "cold", "calibrated")]
    text = page(client, shared.snapshot(url, [profile], rows=rows)[1]).text
    assert "2 of these ads are provisional" in text
    assert (text.count("Provisional: Early"), text.count("Provisional: Too little data")) == (1, 1)
    alone = page(client, shared.snapshot(url, [profile], rows=rows[:2])[1]).text
    assert "One of these ads is provisional" in alone
    assert "provisional:" not in page(client, shared.snapshot(url, [profile], rows=rows[:1])[1]).text


def test_a_likelihood_is_shown_only_where_it_is_served(client: FlaskClient, url: str, profile: Profile) -> None:
    served = {**ROWS[0], "top_performer_likelihood": {"value": 0.1234, "status": "served", "reason": "x"}}
    withheld = {**ROWS[0], "top_performer_likelihood": {"value": None, "status": "withheld", "reason": "no_skill"}}
    assert "Chance of leading next: 12" in page(client, shared.snapshot(url, [profile], rows=[served])[1]).text
    assert "Chance of leading next" not in page(client, shared.snapshot(url, [profile], rows=[withheld])[1]).text


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"primary_outcome_kind": "cash"}, ["3 payments", "USD 62.49 attributed"]),
        ({"primary_outcome_kind": "pipeline", "attributed_pipeline_outcomes": 1}, ["1 lead or deal"]),
        ({"primary_outcome_kind": "platform", "platform_reported_conversions": 2.5},
         ["2.5 conversions", "claimed by the platform"]),
        ({"primary_outcome_kind": "messaging", "messaging_conversations_started": 2, "cost_per_conversation": 1.5},
         ["2 conversations", "USD 1.50 each"]),
        ({"primary_outcome_kind": "none"}, ["None attributed yet"]),
    ],
)  # fmt: skip
def test_the_outcome_to_headline_is_the_one_that_is_shown(
    client: FlaskClient, url: str, profile: Profile, changed: dict[str, Any], said: list[str]
) -> None:
    text = page(client, shared.snapshot(url, [profile], rows=[{**ROWS[0], **changed}])[1]).text
    assert all(one in text for one in said)


@pytest.mark.parametrize(("analysed", "shown"), [("ugc_video", "ugc video"), (None, "collection")])
def test_an_ad_says_its_creative_format_or_until_it_is_analysed_its_media(
    client: FlaskClient, url: str, profile: Profile, analysed: str | None, shown: str
) -> None:
    row = {**ROWS[0], "creative_format": analysed, "cohort_format": "collection"}
    text = page(client, shared.snapshot(url, [profile], rows=[row])[1]).text
    assert f'<span class="tags"><span>meta</span><span>{shown}</span>' in text


def test_without_money_the_page_has_no_column_of_it_and_says_so(
    client: FlaskClient, url: str, profile: Profile
) -> None:
    row = {**ROWS[0], **dict.fromkeys(("spend", "roas", "attributed_revenue"))}
    text = page(client, shared.snapshot(url, [profile], rows=[row], hide_money=True)[1]).text
    assert "Figures of money were left out" in text
    assert "ROAS" not in text and "USD" not in text and "3 payments" in text


@pytest.mark.parametrize("headers", [HTML, JSON])
def test_what_opens_nothing_has_one_answer(
    client: FlaskClient, url: str, profile: Profile, token: str, headers: dict[str, str]
) -> None:
    _, revoked = shared.snapshot(url, [profile], revoked_at=db.now())
    _, expired = shared.snapshot(url, [profile], expires_at=db.now())
    bodies = set()
    for one in (revoked, expired, token[:-1], f"{token[:-1]}{'a' if token[-1] != 'a' else 'b'}", "x"):
        answer = page(client, one, headers)
        assert answer.status_code == 404
        bodies.add(re.sub(r"req_[0-9a-f]{32}", "", answer.text))
    assert len(bodies) == 1


def test_only_getting_it_counts_as_a_view(client: FlaskClient, url: str, token: str) -> None:
    assert client.head(f"/shared/{token}").status_code == 200
    page(client, token)
    page(client, token, JSON)
    with db.transaction(url) as session:
        (kept,) = session.query(SharedSnapshot).all()
    assert kept.view_count == 2 and kept.last_viewed_at is not None


def test_one_address_opens_sixty_in_a_minute(client: FlaskClient, url: str, token: str) -> None:
    for _ in range(60):
        assert client.head(f"/shared/{token}").status_code == 200
    refused = page(client, token, JSON)
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert page(client, token).status_code == 429
    assert "Wait a minute" in page(client, token).text
    other = client.get(f"/shared/{token}", environ_base={"REMOTE_ADDR": "192.0.2.7"})
    assert other.status_code == 200


def test_rows_of_several_profiles_say_whose_they_are(client: FlaskClient, url: str, profile: Profile) -> None:
    rows = [ROWS[0], {**ROWS[1], "profile_name": "Bakery"}]
    assert "<bdi>Bakery</bdi> · in <bdi>" in page(client, shared.snapshot(url, [profile], rows=rows)[1]).text
    alone = shared.snapshot(url, [accounts.profile(url)], rows=[{**ROWS[1], "profile_name": "Bakery"}])[1]
    assert "Bakery" not in page(client, alone).text
