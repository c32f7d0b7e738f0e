"""GET /customers: who is listed, what is told of them at which level, and the log of who was told."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.customer_keys import customer_key
from api.models import PiiAccess, Profile, Workspace
from api.roles import Role
from api.scopes import Scope
from api.warehouse_ids import identifier_id
from tests.api.conftest import Caller
from tests.factories import erasures, people, served
from touchledger.settings import Settings

REFS = [f"3f1b8a52-7c8e-8d11-9b5e-0c8f5e6d7a1{n}" for n in range(4)]
DAY = 86_400
WINDOW = "date_from=2026-03-01&date_to=2026-03-31"
PATH = f"/customers?{WINDOW}"
MARCH = 1_772_323_200


def tables(profile: Profile) -> dict[str, list[dict[str, object]]]:
    rows = [
        {"person_key": n, "person_ref": REFS[n], "first_seen": MARCH, "last_seen": MARCH + n // 2 * DAY}
        for n in range(4)
    ]
    rows[0] |= {"conversions": 2, "cash_minor": 12_345, "touches": 3, "touch_channels": "chatapp,web"}
    rows[0] |= {"first_ad_external_id": "120"}
    facts = {"profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "currency_digits": 2}
    names = [
        {"person_key": 0, "first_name": "Ann Marie", "last_name": "Quill", "email": "ann@example.com",
         "phone": "+14155550199", "external_ref": "crm-7"},
        {"person_key": 1, "last_name": "Annable", "external_ref": "ann@corp.example"},
        {"person_key": 3, "email": "bob@example.com"},
    ]  # fmt: skip
    return {
        "profiles": [{"profile_key": 1, **facts, "settings_version": "v"}],
        "customers": [{"profile_key": 1, **row} for row in rows] + [{"profile_key": 2, "person_key": 9}],
        "customer_days": [
            {"profile_key": 1, "person_key": n, "day": f"2026-03-{day:02}"}
            for n, day in ((0, 1), (1, 1), (2, 1), (2, 2), (3, 2))
        ],
        "person_names": [{"profile_key": 1, **row} for row in names]
        + [{"profile_key": 2, "person_key": 9, "email": "ann@elsewhere.example"}],
        "person_identifiers": [
            {"profile_key": 1, "person_key": 0, "person_ref": REFS[0], "alias_ref": REFS[0],
             "identifier_id": identifier_id(profile.id, "email", "ann@example.com")}
        ],
    }  # fmt: skip


@pytest.fixture
def shop(settings: Settings, profile: Profile) -> None:
    served.publish(settings.published, tables(profile))


@pytest.fixture
def reader(shop: None, caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.CUSTOMERS_READ])


@pytest.fixture
def agent(shop: None, client: FlaskClient, settings: Settings, profile: Profile) -> Caller:
    ada = people.user(settings.operational_url)
    people.member(settings.operational_url, ada, profile.workspace_id, Role.ADMIN)
    return Caller(client, people.token_of(settings.operational_url, ada, grants=["mcp:read_pii"]))


def listed(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["customer_key"] for row in answer.json["data"]]


def keys(settings: Settings, profile: Profile, *numbers: int) -> list[str]:
    return [customer_key(settings, profile.id, REFS[n]) for n in numbers]


def logged(settings: Settings) -> list[tuple[Any, ...]]:
    with db.transaction(settings.operational_url) as session:
        rows = session.scalars(sa.select(PiiAccess).order_by(PiiAccess.id))
        return [(row.route, row.subject, row.actor_kind, row.record_count, row.pii_level) for row in rows]


def test_nobody_reads_people_without_a_key_and_its_scope(anonymous: Caller, caller: Caller) -> None:
    assert anonymous.get(PATH).status_code == 401
    refused = caller.get(PATH)
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "insufficient_scope")


def test_a_customer_is_told_whole_to_a_key_and_that_it_was_told_is_logged(
    reader: Caller, settings: Settings, profile: Profile
) -> None:
    answer = reader.get(f"{PATH}&search=ann@example.com")
    assert answer.json["data"] == [
        {
            "customer_key": customer_key(settings, profile.id, REFS[0]),
            "name": "Ann Marie Quill",
            "email": "ann@example.com",
            "phone": "+14155550199",
            "external_ref": "crm-7",
            "first_seen_at": "2026-03-01T00:00:00.000Z",
            "last_seen_at": "2026-03-01T00:00:00.000Z",
            "conversions": 2,
            "cash_revenue": 123.45,
            "touches": 3,
            "touch_channels": ["chatapp", "web"],
            "first_ad_external_id": "120",
        }
    ]
    meta = answer.json["meta"]
    assert (meta["pii_level_applied"], meta["currency"], meta["date_to"]) == ("full", "USD", "2026-03-31")
    assert answer.headers["X-RateLimit-Remaining"] == "57"
    assert logged(settings) == [("/customers", "customer", "api_key", 1, "full")]


def test_people_come_last_seen_first_and_only_those_who_were_there_in_the_window(
    reader: Caller, settings: Settings, profile: Profile
) -> None:
    assert listed(reader.get(PATH)) == keys(settings, profile, 2, 3, 0, 1)
    assert listed(reader.get("/customers?date_from=2026-03-02&date_to=2026-03-03")) == keys(settings, profile, 2, 3)
    assert listed(reader.get("/customers?date_from=2026-03-01&date_to=2026-03-01")) == keys(settings, profile, 2, 0, 1)
    assert listed(reader.get("/customers?date_from=2026-04-01&date_to=2026-04-03")) == []


def test_a_walk_over_pages_meets_everybody_once(reader: Caller, settings: Settings, profile: Profile) -> None:
    met, cursor = [], ""
    for _ in range(4):
        answer = reader.get(f"{PATH}&limit=1{cursor}")
        met += listed(answer)
        cursor = f"&cursor={answer.json['pagination']['cursor']}"
    assert met == keys(settings, profile, 2, 3, 0, 1)
    assert answer.json["pagination"] == {"cursor": None, "has_next": False}
    first = reader.get(f"{PATH}&limit=1").json["pagination"]["cursor"]
    mixed = reader.get(f"{PATH}&search=ann&cursor={first}")
    assert (mixed.status_code, mixed.json["error"]["code"]) == (400, "invalid_parameter")


def test_a_search_finds_the_beginning_of_an_address_or_a_name(
    reader: Caller, settings: Settings, profile: Profile
) -> None:
    for search, found in (
        *(("ann", [0, 1]), ("ANN%20MARIE%20Q", [0]), ("quill", [0]), ("bob@", [3])),
        *(("marie", []), ("example", []), ("%25", [])),
    ):
        assert listed(reader.get(f"{PATH}&search={search}")) == keys(settings, profile, *found), search


def test_what_cannot_be_asked_is_refused(reader: Caller) -> None:
    for query in ("search=", "search=%20", f"search={'a' * 255}", "pii=none", "limit=201", "x=1"):
        refused = reader.get(f"{PATH}&{query}")
        assert (refused.status_code, refused.json["error"]["code"]) == (400, "invalid_parameter"), query
    assert reader.get("/customers").json["error"]["code"] == "invalid_date_range"


def test_an_agent_is_told_just_enough_unless_it_asks_for_all_and_the_workspace_lets_it(
    agent: Caller, settings: Settings, profile: Profile
) -> None:
    def asked(pii: str) -> tuple[str, list[tuple[Any, ...]]]:
        answer = agent.get(f"{PATH}{pii}&profile_id={profile.id}")
        rows = [(row["name"], row["email"], row["phone"], row["external_ref"]) for row in answer.json["data"]]
        return answer.json["meta"]["pii_level_applied"], [row for row in rows if any(row)]

    masked = [
        (None, "b***@example.com", None, None),
        ("Ann", "a***@example.com", "***0199", "crm-7"),
        ("A***", None, None, "a***@corp.example"),
    ]
    whole = ("Ann Marie Quill", "ann@example.com", "+14155550199", "crm-7")
    assert asked("&pii=full") == asked("") == ("masked", masked)
    with db.transaction(settings.operational_url) as session:
        session.get_one(Workspace, profile.workspace_id).pii_mode = "full_default"
    assert asked("") == ("masked", masked)
    level, rows = asked("&pii=full")
    assert level == "full" and rows[1] == whole
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "platform_safe"
    assert asked("&pii=full") == ("masked", masked)
    assert [row[2:] for row in logged(settings)] == [
        ("user_token", 4, level) for level in ("masked", "masked", "masked", "full", "masked")
    ]


def test_what_is_masked_cannot_be_found_out_letter_by_letter(
    agent: Caller, reader: Caller, settings: Settings, profile: Profile
) -> None:
    for search, found in (("ann@e", []), ("ann@example.com", [0]), ("Ann", [0]), ("ann m", []), ("qui", [])):
        path = f"{PATH}&search={search}"
        assert listed(agent.get(f"{path}&profile_id={profile.id}")) == keys(settings, profile, *found)
        assert listed(reader.get(f"{path}&pii=masked")) == keys(settings, profile, *found)


def test_a_cursor_does_not_tell_the_id_by_which_a_guessed_phone_could_be_proved(
    agent: Caller, profile: Profile
) -> None:
    cursor = agent.get(f"{PATH}&limit=1&profile_id={profile.id}").json["pagination"]["cursor"]
    inside = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    assert not [ref for ref in REFS if ref[:8].encode() in inside or uuid.UUID(ref).bytes in inside]


def test_whoever_asked_to_be_forgotten_is_told_to_nobody_from_then_on(
    reader: Caller, settings: Settings, profile: Profile
) -> None:
    known = {"If-None-Match": reader.get(PATH).headers["ETag"]}
    assert reader.get(PATH, headers=known).status_code == 304
    erasures.forget(settings, profile.id, ("email", "ann@example.com"))
    assert listed(reader.get(PATH, headers=known)) == keys(settings, profile, 2, 3, 1)


def test_a_partner_reads_nobody_of_a_healthcare_profile_and_the_own_key_still_does(
    reader: Caller, settings: Settings, profile: Profile, caller_with: Callable[..., Caller]
) -> None:
    app = people.app(settings.operational_url)
    partner = caller_with(scopes=[Scope.CUSTOMERS_READ], app_id=app.app.id)
    assert len(listed(partner.get(PATH))) == 4
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "hipaa"
    refused = partner.get(PATH)
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "healthcare_scope_forbidden")
    assert len(listed(reader.get(PATH))) == 4


def test_a_known_answer_is_not_sent_twice_but_another_level_is_another_answer(reader: Caller) -> None:
    tag = reader.get(PATH).headers["ETag"]
    assert reader.get(PATH, headers={"If-None-Match": tag}).status_code == 304
    assert reader.get(f"{PATH}&pii=masked", headers={"If-None-Match": tag}).status_code == 200


def test_before_the_first_snapshot_there_is_nobody_and_without_the_file_of_names_nothing_is_told(
    settings: Settings, profile: Profile, caller_with: Callable[..., Caller]
) -> None:
    reader = caller_with(scopes=[Scope.CUSTOMERS_READ])
    assert listed(reader.get(PATH)) == []
    snapshot = served.publish(settings.published, tables(profile))
    (settings.published / f"names-{snapshot}.duckdb").unlink()
    gone = reader.get(PATH)
    assert (gone.status_code, gone.json["error"]["code"]) == (503, "database_unavailable")


def test_the_file_that_figures_are_read_from_holds_nobodys_name(settings: Settings, profile: Profile) -> None:
    snapshot = served.publish(settings.published, tables(profile))
    told = (settings.published / f"served-{snapshot}.duckdb").read_bytes()
    named = (settings.published / f"names-{snapshot}.duckdb").read_bytes()
    assert b"ann@example.com" in named
    assert b"ann@example.com" not in told


def test_a_session_is_asked_for_the_permission_to_see_people(
    shop: None, client: FlaskClient, settings: Settings, profile: Profile
) -> None:
    url = settings.operational_url
    for permissions, status in (((), 403), (("pii.view",), 200)):
        bea = people.user(url)
        people.member(url, bea, profile.workspace_id, Role.VIEWER, permissions=permissions)
        answer = Caller(client, people.session_of(url, bea)).get(f"{PATH}&profile_id={profile.id}")
        assert answer.status_code == status
    assert answer.json["meta"]["pii_level_applied"] == "full"


def test_days_are_asked_of_those_alone_who_were_seen_after_the_window(
    settings: Settings, profile: Profile, caller_with: Callable[..., Caller]
) -> None:
    world = tables(profile)
    # Tokyo's March begins nine hours before
    world["profiles"][0]["time_zone"] = "Asia/Tokyo"
    world["customers"][1]["last_seen"] = MARCH - 9 * 3600
    world["customers"][0]["last_seen"] = MARCH - 9 * 3600 - 1
    served.publish(settings.published, {**world, "customer_days": []})
    reader = caller_with(scopes=[Scope.CUSTOMERS_READ])
    assert listed(reader.get(PATH)) == keys(settings, profile, 2, 3, 1)
    assert listed(reader.get("/customers?date_from=2026-03-01&date_to=2026-03-01")) == []
