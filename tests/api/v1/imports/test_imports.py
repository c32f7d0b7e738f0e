"""POST /imports and what became of a file: the same states, loader and quarantine as those of the drop folder."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, errors
from api.models import AuditEntry, Import, Profile
from api.roles import Role
from api.scopes import DEFAULT_SCOPES, Scope
from api.v1.imports import uploads
from orchestration.inbox import scan_inbox, waiting_files
from orchestration.lake import Lake
from tests.api.conftest import Caller
from tests.api.v1.events.conftest import anonymous, caller, caller_with, client, profile, secret
from tests.factories import accounts, people
from tests.fixtures.at_once import one_behind_the_other
from touchledger.settings import Settings

__all__ = ["anonymous", "caller", "caller_with", "client", "profile", "secret"]

HEAD = "platform,campaign_id,ad_account_id,name,status\n"
CAMPAIGNS = HEAD + "meta,c1,act_1,One,ACTIVE\n"


class Uploader:
    """One key with events:write."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def give(self, content: str | bytes, name: str = "campaigns.csv", dataset: Any = "campaigns", **more: Any) -> Any:
        data = content.encode() if isinstance(content, str) else content
        form = {"file": (io.BytesIO(data), name), **({"dataset": dataset} if dataset else {}), **more.pop("form", {})}
        return self.caller.post("/imports", data=form, content_type="multipart/form-data", **more)

    def given(self, *args: Any, **more: Any) -> dict[str, Any]:
        response = self.give(*args, **more)
        assert response.status_code == 202, response.get_data(as_text=True)
        data: dict[str, Any] = response.get_json()["data"]
        return data

    def state(self, import_id: str) -> dict[str, Any]:
        response = self.caller.get(f"/imports/{import_id}")
        assert response.status_code == 200
        data: dict[str, Any] = response.get_json()["data"]
        return data


@pytest.fixture
def uploader(caller_with: Callable[..., Caller]) -> Uploader:
    return Uploader(caller_with(scopes=[Scope.EVENTS_WRITE]))


@pytest.fixture
def load(settings: Settings) -> Callable[[], None]:
    """What the next build does with the drop folder."""

    def run() -> None:
        lake = Lake(settings.lake)
        lake.prepare()
        scan_inbox(settings, lake)

    return run


def _refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.get_json()["error"]["code"]


def test_nobody_imports_without_a_key_or_the_scope(anonymous: Caller, caller_with: Callable[..., Caller]) -> None:
    assert Uploader(anonymous).give(CAMPAIGNS).status_code == 401
    caller = caller_with(scopes=DEFAULT_SCOPES)
    assert Uploader(caller).give(CAMPAIGNS).status_code == 403
    assert caller.get("/imports").status_code == 403


@pytest.mark.parametrize(("role", "status"), [(Role.EDITOR, 403), (Role.ADMIN, 202)])
def test_of_people_only_admins_import(
    client: Any, settings: Settings, profile: Profile, role: Role, status: int
) -> None:
    person = people.user(settings.operational_url)
    people.member(settings.operational_url, person, profile.workspace_id, role)
    caller = Caller(client, people.session_of(settings.operational_url, person))
    asked = {"query_string": {"profile_id": profile.id}}
    answers = [
        Uploader(caller).give(CAMPAIGNS, **asked),
        caller.get("/imports", **asked),
        caller.get(f"/imports/{db.new_id()}", **asked),
    ]
    if status == 403:
        assert [one.get_json()["error"].get("reason") for one in answers] == ["role_required"] * 3
    assert [one.status_code for one in answers] == ([403] * 3 if status == 403 else [202, 200, 404])


def test_a_file_is_queued_then_loaded_by_the_next_build(
    uploader: Uploader, load: Callable[[], None], settings: Settings, profile: Profile
) -> None:
    queued = uploader.given(CAMPAIGNS, name="März.csv")
    assert (queued["status"], queued["dataset"], queued["file_name"]) == ("queued", "campaigns", "März.csv")
    assert [file.scope for file in waiting_files(settings)] == [profile.id]
    load()
    loaded = uploader.state(queued["import_id"])
    assert loaded == {**queued, "status": "loaded", "rows_in": 1, "rows_loaded": 1}
    assert waiting_files(settings) == []


def test_the_same_bytes_are_the_earlier_import(uploader: Uploader, load: Callable[[], None]) -> None:
    first = uploader.given(CAMPAIGNS)
    assert uploader.given(CAMPAIGNS, name="again.csv")["import_id"] == first["import_id"]
    load()
    again = uploader.given(CAMPAIGNS)
    assert (again["import_id"], again["status"]) == (first["import_id"], "loaded")
    other_set = uploader.give(CAMPAIGNS, dataset="ad_sets")
    assert other_set.get_json()["data"]["import_id"] != first["import_id"]


def test_bad_rows_are_told_with_row_field_and_reason(uploader: Uploader, load: Callable[[], None]) -> None:
    rows = "".join(f"meta,c{number},act_1,,ACTIVE\n" for number in range(120))
    queued = uploader.given(HEAD + "meta,good,act_1,One,ACTIVE\n" + rows)
    load()
    state = uploader.state(queued["import_id"])
    assert (state["status"], state["rows_in"], state["rows_loaded"], state["rows_quarantined"]) == (
        "loaded",
        121,
        1,
        120,
    )
    assert state["errors"][0] == {"row": 2, "field": "name", "reason": "missing"}
    assert [error["row"] for error in state["errors"]] == list(range(2, 102))


def test_a_broken_file_is_rejected_in_words_and_may_be_given_again(
    uploader: Uploader, load: Callable[[], None]
) -> None:
    queued = uploader.given("platform,campaign\nmeta,c1\n", name="mine.csv")
    load()
    rejected = uploader.state(queued["import_id"])
    assert rejected["status"] == "rejected"
    assert rejected["reason"].startswith("mine.csv: ") and "campaign" in rejected["reason"]
    again = uploader.given("platform,campaign\nmeta,c1\n")
    assert (again["import_id"], again["status"], again["reason"]) == (queued["import_id"], "queued", None)
    load()
    assert uploader.state(queued["import_id"])["status"] == "rejected"


def test_a_file_sent_under_the_wrong_ending_is_imported_under_the_right_one(
    uploader: Uploader, load: Callable[[], None], settings: Settings
) -> None:
    line = '{"platform": "meta", "campaign_id": "c1", "ad_account_id": "a1", "name": "One"}\n'
    wrong = uploader.given(line, name="mine.csv")
    load()
    assert uploader.state(wrong["import_id"])["status"] == "rejected"
    right = uploader.given(line, name="mine.jsonl")
    load()
    state = uploader.state(wrong["import_id"])
    assert (right["import_id"], state["status"], state["file_name"]) == (wrong["import_id"], "loaded", "mine.jsonl")
    (kept,) = settings.inbox.glob("*/*/*")
    assert kept.name == f"{state['sha256']}.jsonl"


def test_a_build_that_was_cut_short_is_taken_up_again(
    uploader: Uploader, load: Callable[[], None], settings: Settings
) -> None:
    queued = uploader.given(CAMPAIGNS)
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(Import).values(status="loading"))
    load()
    assert uploader.state(queued["import_id"])["status"] == "loaded"


@pytest.mark.parametrize(
    ("name", "content"),
    [("c.csv.gz", gzip.compress(CAMPAIGNS.encode(), mtime=0)), ("C.JSONL", b'{"platform": "meta", "campaign_id": "c1", '
      b'"ad_account_id": "a", "name": "One", "status": "ACTIVE"}\n')],
)  # fmt: skip
def test_every_form_of_file_is_taken(uploader: Uploader, load: Callable[[], None], name: str, content: bytes) -> None:
    queued = uploader.given(content, name=name)
    load()
    assert uploader.state(queued["import_id"])["rows_loaded"] == 1


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"content": ""}, (400, "invalid_content")),
        ({"name": "campaigns.xlsx"}, (400, "invalid_content")),
        ({"name": "cam\0paigns.csv"}, (400, "invalid_content")),
        ({"form": {"profile": "x"}}, (400, "invalid_content")),
        ({"form": {"file": "text"}}, (400, "invalid_content")),
        ({"dataset": ["campaigns", "touches"]}, (400, "invalid_content")),
        ({"dataset": None}, (422, "validation_error")),
        ({"dataset": "profiles"}, (422, "validation_error")),
        ({"dataset": "fx_rates"}, (422, "validation_error")),
        ({"dataset": "../campaigns"}, (422, "validation_error")),
    ],
    ids=str,
)
def test_a_wrong_form_is_refused(
    uploader: Uploader, settings: Settings, options: dict[str, Any], refusal: tuple[int, str]
) -> None:
    assert _refusal(uploader.give(**{"content": CAMPAIGNS, **options})) == refusal
    assert waiting_files(settings) == []


@pytest.mark.parametrize("part", ["dataset", "file"])
def test_a_part_that_is_a_text_and_a_file_is_refused(uploader: Uploader, settings: Settings, part: str) -> None:
    texts, files = {"dataset": "campaigns"}, {"file": (io.BytesIO(CAMPAIGNS.encode()), "c.csv")}
    form = {**texts, **files, part: ["campaigns", (io.BytesIO(CAMPAIGNS.encode()), "c.csv")]}
    response = uploader.caller.post("/imports", data=form, content_type="multipart/form-data")
    assert _refusal(response) == (400, "invalid_content")
    assert response.get_json()["error"]["message"] == f"{part}: is given more than once."
    assert waiting_files(settings) == []


def test_a_name_with_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(errors.ApiError) as refused:
        uploads.name_of("cam\ud800paigns.csv")
    assert refused.value.code is errors.INVALID_CONTENT


def test_the_same_bytes_twice_at_once_are_one_import(database_url: str) -> None:
    shop = accounts.profile(database_url)

    def give(session: Session) -> tuple[str, bool, bool]:
        made, is_due, is_begun = uploads.queue(session, shop.id, "campaigns", "campaigns.csv", "0" * 64)
        return made.id, is_due, is_begun

    first, second = one_behind_the_other(database_url, give)
    assert (first[1:], second) == ((True, True), (first[0], True, False))


def test_a_body_that_is_no_form_is_refused(uploader: Uploader) -> None:
    assert _refusal(uploader.caller.post("/imports", json={"dataset": "campaigns"})) == (400, "invalid_request")


def test_one_key_imports_one_file_whatever_the_boundary(uploader: Uploader, settings: Settings) -> None:
    key = {"Idempotency-Key": "k"}
    first = uploader.give(CAMPAIGNS, headers=key)
    again = uploader.give(CAMPAIGNS, headers=key)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.get_json() == first.get_json()
    assert _refusal(uploader.give(CAMPAIGNS + "meta,c2,act_1,Two,ACTIVE\n", headers=key)) == (
        409, "idempotency_key_conflict",
    )  # fmt: skip
    with db.transaction(settings.operational_url) as session:
        assert [row.action for row in session.scalars(sa.select(AuditEntry))] == ["import.created"]


def test_a_form_put_right_may_use_the_key_of_the_wrong_one(uploader: Uploader) -> None:
    key = {"Idempotency-Key": "k"}
    assert uploader.give(CAMPAIGNS, dataset="toches", headers=key).status_code == 422
    assert uploader.give(CAMPAIGNS, headers=key).status_code == 202


def test_the_trail_tells_an_import_when_it_begins_and_no_repeat_of_its_bytes(
    uploader: Uploader, load: Callable[[], None], settings: Settings
) -> None:
    broken = "platform,nothing\nmeta,1\n"
    for content in (CAMPAIGNS, CAMPAIGNS, broken):
        uploader.given(content)
    load()
    # the rejected one is tried again
    for content in (CAMPAIGNS, broken, broken):
        uploader.given(content)
    with db.transaction(settings.operational_url) as session:
        told = [row.details["target"]["id"] for row in session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id))]
        good, bad = [one.id for one in session.scalars(sa.select(Import).order_by(Import.created_at))]
    assert told == [good, bad, bad]


def test_imports_are_listed_newest_first_page_by_page(uploader: Uploader, settings: Settings) -> None:
    made = [uploader.given(f"{HEAD}meta,c{number},act_1,One,ACTIVE\n")["import_id"] for number in range(5)]
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        body = uploader.caller.get("/imports", query_string={"limit": "2", **cursor}).get_json()
        found += [row["import_id"] for row in body["data"]]
        if not body["pagination"]["has_next"]:
            break
        cursor = {"cursor": body["pagination"]["cursor"]}
    assert found == list(reversed(made))
    assert body["pagination"] == {"cursor": None, "has_next": False}


def test_another_profiles_import_is_not_found(uploader: Uploader, client: Any, settings: Settings) -> None:
    url = settings.operational_url
    foreign = Caller(client, accounts.secret(url, accounts.profile(url, name="Other"), scopes=[Scope.EVENTS_WRITE]))
    import_id = uploader.given(CAMPAIGNS)["import_id"]
    assert _refusal(foreign.get(f"/imports/{import_id}")) == (404, "not_found")
    assert foreign.get("/imports").get_json()["data"] == []
    assert _refusal(uploader.caller.get(f"/imports/{db.new_id()}")) == (404, "not_found")
    assert _refusal(uploader.caller.get("/imports/12")) == (400, "invalid_parameter")
