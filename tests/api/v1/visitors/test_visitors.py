"""GET /visitors: which browsers are listed, whose they are, and who may not ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.customer_keys import customer_key
from api.models import PiiAccess, Profile
from api.roles import Role
from api.scopes import Scope
from api.warehouse_ids import identifier_id
from tests.api.conftest import Caller
from tests.factories import erasures, people, served
from touchledger.settings import Settings

REF = "3f1b8a52-7c8e-8d11-9b5e-0c8f5e6d7a10"
PATH = "/visitors?date_from=2026-03-01&date_to=2026-03-31"
MARCH = 1_772_323_200


def visitor(profile: Profile, number: int) -> str:
    return identifier_id(profile.id, "anonymous_id", f"browser-{number}")


@pytest.fixture
def shop(settings: Settings, profile: Profile) -> None:
    facts = {"profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "currency_digits": 2}
    rows: list[dict[str, object]] = [
        {"profile_key": 1, "visitor_key": n, "visitor_id": visitor(profile, n), "last_seen": MARCH + n, "sessions": n}
        for n in (1, 2, 3)
    ]
    rows[0] |= {"person_key": 7, "person_ref": REF, "pageviews": 5, "channel": "paid", "source": "meta"}
    rows[0] |= {"country": "DE", "device": "mobile"}
    served.publish(
        settings.published,
        {
            "profiles": [{"profile_key": 1, **facts, "settings_version": "v"}],
            "visitors": [*rows, {"profile_key": 2, "visitor_key": 4, "visitor_id": "other", "last_seen": MARCH}],
            "visitor_days": [
                {"profile_key": 1, "visitor_key": n, "day": day}
                for n, day in ((1, "2026-03-01"), (2, "2026-03-02"), (3, "2026-03-03"), (3, "2026-04-01"))
            ]
            + [{"profile_key": 2, "visitor_key": 4, "day": "2026-03-01"}],
            "person_names": [{"profile_key": 1, "person_key": 7, "first_name": "Ann", "email": "ann@example.com"}],
            "person_identifiers": [
                {"profile_key": 1, "person_key": 7, "person_ref": REF, "alias_ref": REF,
                 "identifier_id": identifier_id(profile.id, "email", "ann@example.com")}
            ],
        },
    )  # fmt: skip


@pytest.fixture
def reader(shop: None, caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.VISITORS_READ])


def listed(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["visitor_id"] for row in answer.json["data"]]


def test_a_visitor_is_told_with_the_person_and_that_it_was_told_is_logged(
    reader: Caller, settings: Settings, profile: Profile
) -> None:
    answer = reader.get("/visitors?date_from=2026-03-01&date_to=2026-03-01")
    assert answer.json["data"] == [
        {
            "visitor_id": visitor(profile, 1),
            "customer_key": customer_key(settings, profile.id, REF),
            "name": "Ann",
            "email": "ann@example.com",
            "last_seen_at": "2026-03-01T00:00:01.000Z",
            "sessions": 1,
            "pageviews": 5,
            "channel": "paid",
            "source": "meta",
            "country": "DE",
            "device": "mobile",
        }
    ]
    assert answer.headers["X-RateLimit-Remaining"] == "57"
    with db.transaction(settings.operational_url) as session:
        (row,) = session.scalars(sa.select(PiiAccess))
    assert (row.route, row.subject, row.record_count, row.pii_level) == ("/visitors", "visitor", 1, "full")


def test_a_walk_meets_every_browser_of_the_window_once_last_seen_first(reader: Caller, profile: Profile) -> None:
    met, cursor = [], ""
    for _ in range(3):
        answer = reader.get(f"{PATH}&limit=1{cursor}")
        met += listed(answer)
        cursor = f"&cursor={answer.json['pagination']['cursor']}"
    assert met == [visitor(profile, n) for n in (3, 2, 1)]
    assert answer.json["pagination"] == {"cursor": None, "has_next": False}
    assert listed(reader.get("/visitors?date_from=2026-04-01&date_to=2026-04-01")) == [visitor(profile, 3)]


def test_nobody_reads_visitors_of_a_healthcare_profile_and_no_agent_any(
    reader: Caller, anonymous: Caller, caller: Caller, client: FlaskClient, settings: Settings, profile: Profile
) -> None:
    def refusal(by: Caller) -> tuple[int, str]:
        answer = by.get(f"{PATH}&profile_id={profile.id}")
        return answer.status_code, answer.json.get("error", {}).get("code", "")

    ada = people.user(settings.operational_url)
    people.member(settings.operational_url, ada, profile.workspace_id, Role.OWNER)
    agent = Caller(client, people.token_of(settings.operational_url, ada, grants=["mcp:read", "mcp:read_pii"]))
    signed_in = Caller(client, people.session_of(settings.operational_url, ada))
    assert [refusal(by)[0] for by in (anonymous, caller, agent, signed_in, reader)] == [401, 403, 403, 200, 200]
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "platform_safe"
    assert refusal(reader) == refusal(signed_in) == (403, "healthcare_scope_forbidden")


def test_browsers_of_whoever_asked_to_be_forgotten_are_told_to_nobody_from_then_on(
    reader: Caller, settings: Settings, profile: Profile
) -> None:
    known = {"If-None-Match": reader.get(PATH).headers["ETag"]}
    erasures.forget(settings, profile.id, ("email", "ann@example.com"), ids=(visitor(profile, 2),))
    assert listed(reader.get(PATH, headers=known)) == [visitor(profile, 3)]
