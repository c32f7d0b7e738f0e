"""GET /exports: the ledger by status, destination and day, page by page, and nobody in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from api import db
from api.exports.gates import SKIP_REASONS
from api.models import Profile
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.factories import accounts, exports, served
from tests.fixtures.statements import statements
from touchledger.settings import Settings


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.EXPORTS_READ])


def ids(response: object) -> list[str]:
    return [row["export_id"] for row in response.get_json()["data"]]  # type: ignore[attr-defined]


def test_rows_come_newest_first_in_pages_and_by_filter(key: Caller, url: str, profile: Profile) -> None:
    one, other = exports.destination(url, profile), exports.destination(url, profile)
    at = [datetime(2026, 11, day, 12, tzinfo=UTC) for day in (1, 2, 3)]
    first = exports.row(url, one, created_at=at[0], status="sent", sent_at=at[0], next_attempt_at=None)
    second = exports.row(url, other, created_at=at[1])
    third = exports.row(url, one, created_at=at[2], status="skipped", reason="too_old")
    exports.row(url, exports.destination(url, accounts.profile(url, name="Foreign")))
    page = key.get("/exports?limit=2").get_json()
    assert [row["export_id"] for row in page["data"]] == [third.id, second.id]
    assert page["data"][0]["reason"] == "too_old"
    assert ids(key.get(f"/exports?limit=2&cursor={page['pagination']['cursor']}")) == [first.id]
    assert ids(key.get("/exports?status=sent")) == [first.id]
    assert ids(key.get(f"/exports?destination_id={other.id}")) == [second.id]
    assert ids(key.get("/exports?date_from=2026-11-02&date_to=2026-11-02")) == [second.id]
    assert key.get("/exports?status=lost").status_code == 400


def test_rows_of_one_instant_come_by_id_over_pages(key: Caller, url: str, profile: Profile) -> None:
    of, at = exports.destination(url, profile), datetime(2026, 11, 1, tzinfo=UTC)
    made = sorted(exports.row(url, of, created_at=at).id for _ in range(3))
    page = key.get("/exports?limit=2").get_json()
    rest = key.get(f"/exports?limit=2&cursor={page['pagination']['cursor']}")
    assert [row["export_id"] for row in page["data"]] + ids(rest) == made


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_the_first_and_the_last_day_there_is_are_days_too(key: Caller, url: str, profile: Profile, zone: str) -> None:
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).timezone = zone
    exports.row(url, exports.destination(url, profile))
    for day in ("0001-01-01", "9999-12-31"):
        answer = key.get(f"/exports?date_from={day}&date_to={day}")
        assert (answer.status_code, ids(answer)) == (200, [])


def test_the_callers_own_key_comes_from_the_snapshot(
    key: Caller, url: str, profile: Profile, settings: Settings
) -> None:
    row = exports.row(url, exports.destination(url, profile))
    (told,) = key.get("/exports").get_json()["data"]
    assert told["event_key"] is None
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    conversion = {"profile_key": 1, "day": "2026-11-01", "conversion_id": row.conversion_id, "event_key": "order-1"}
    conversion |= {"occurred_at": "2026-11-01 00:00:00"}
    served.publish(settings.published, {"profiles": [facts], "conversions": [conversion]})
    (told,) = key.get("/exports").get_json()["data"]
    assert told["event_key"] == "order-1"


def test_the_document_tells_every_reason_for_which_a_conversion_is_skipped(key: Caller) -> None:
    schemas = key.client.get("/openapi.json").get_json()["components"]["schemas"]
    told = schemas["LedgerRow"]["properties"]["reason"]["description"].split(". ")[0]
    assert told == f"Why it was skipped: {', '.join(SKIP_REASONS)}"


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ("", "ix_export_rows_listed"),
        ("status=queued", "ix_export_rows_status"),
        ("destination_id={of}", "ix_export_rows_destination"),
        ("destination_id={of}&status=failed", "ix_export_rows_narrowed"),
    ],
)
def test_a_page_does_not_read_the_rows_that_its_filters_leave_out(
    key: Caller, url: str, profile: Profile, filters: str, index: str
) -> None:
    of, engine = exports.destination(url, profile).id, db.engine_for(url, durable=False)
    with statements(engine) as run:
        assert key.get(f"/exports?{filters.format(of=of)}").status_code == 200
    (asked,) = (one for one in run if "FROM export_rows" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1]).all()
    assert f"INDEX {index} (" in plan[0].detail
    assert not [step.detail for step in plan if step.detail == "USE TEMP B-TREE FOR ORDER BY"]
