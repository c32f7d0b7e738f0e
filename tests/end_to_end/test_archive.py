"""A workspace is archived: nobody reaches it from then on, and the next build has nothing of it left anywhere."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from api.app import create_app
from api.db import close_engines, transaction
from api.models import Profile
from api.v1.events.ingest import accept
from orchestration import pointer
from orchestration.lake import Lake
from orchestration.pipeline import run_job
from tests.factories import accounts, forgotten, people
from tests.factories.deployments import migrate
from tests.fixtures.waiting_dbt import waiting_dbt
from touchledger import settings as settings_module
from touchledger.settings import Settings

OVERVIEW = "/api/v1/overview?date_from=2026-03-01&date_to=2026-03-31"


@dataclass
class Archived:
    """A deployment before, right after, and one build after an archive."""

    settings: Settings
    gone: Profile
    kept: Profile
    found_before: list[str]
    answer: dict[str, Any]
    refused: list[int]
    overviews: list[dict[str, Any]]
    older: set[str]


def _build(settings: Settings) -> None:
    with waiting_dbt():
        outcome = run_job(settings, "build")
    assert outcome.success, outcome.problems


def _profile(settings: Settings, name: str) -> Profile:
    return accounts.profile(settings.operational_url, name=name)


@pytest.fixture(scope="module")
def agency(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archived]:
    home = tmp_path_factory.mktemp("archived")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHLEDGER_HOME", str(home))
        settings_module.load.cache_clear()
        settings = settings_module.load()
        migrate(settings)
        Lake(settings.lake).prepare()
        gone, kept = _profile(settings, "Gone"), _profile(settings, "Kept")
        forgotten.fill(settings, gone.id)
        for dataset, records in forgotten.others().items():
            with transaction(settings.operational_url) as session:
                accept(session, profile_id=kept.id, dataset=dataset, records=records)
        _build(settings)
        yield _archived(settings, gone, kept)
        close_engines(settings.operational_url)
    settings_module.load.cache_clear()


def _archived(settings: Settings, gone: Profile, kept: Profile) -> Archived:
    url, client = settings.operational_url, create_app(settings).test_client()
    owner = people.user(url)
    people.member(url, owner, gone.workspace_id)
    session = {"Authorization": f"Bearer {people.session_of(url, owner)}"}
    key = {"Authorization": f"Bearer {accounts.secret(url, gone)}"}
    other = {"Authorization": f"Bearer {accounts.secret(url, kept)}"}
    assert client.get(OVERVIEW, headers=key).json["data"]["current"]["cash_payments"] > 0
    overviews = [client.get(OVERVIEW, headers=other).json["data"]]
    found, older = forgotten.left_of(settings.home), {path.name for path in settings.published.glob("served-*.duckdb")}
    answer = client.delete(f"/api/v1/workspaces/{gone.workspace_id}", headers=session)
    assert answer.status_code == 200, answer.text
    # the snapshot still holds the profile: nobody gets to it
    refused = [
        client.get(OVERVIEW, headers=key).status_code,
        client.get(f"{OVERVIEW}&profile_id={gone.id}", headers=session).status_code,
    ]
    _build(settings)
    overviews.append(client.get(OVERVIEW, headers=other).json["data"])
    return Archived(settings, gone, kept, found, answer.json["data"], refused, overviews, older)


@pytest.fixture(autouse=True)
def environment_of(agency: Archived, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(agency.settings.home))
    settings_module.load.cache_clear()


def test_nobody_reads_an_archived_profile_before_the_next_build(agency: Archived) -> None:
    assert agency.answer["archived"] is True
    assert agency.refused == [401, 404]


def test_after_the_build_no_byte_of_its_people_is_left_under_the_state_folder(agency: Archived) -> None:
    assert agency.found_before
    assert forgotten.left_of(agency.settings.home) == []


def test_the_new_snapshot_is_the_only_one_and_does_not_know_the_profile(agency: Archived, tmp_path: Path) -> None:
    current = pointer.read(agency.settings.published)
    assert current is not None
    assert [path.name for path in agency.settings.published.glob("served-*.duckdb")] == [current.file]
    assert current.file not in agency.older
    # a copy: the API of this process holds the served file open in its own way
    copy = shutil.copy(agency.settings.published / current.file, tmp_path)
    with duckdb.connect(str(copy), read_only=True) as snapshot:
        assert snapshot.execute("select profile_id from profiles").fetchall() == [(agency.kept.id,)]


def test_the_other_workspaces_figures_are_what_they_were(agency: Archived) -> None:
    before, after = agency.overviews
    assert before == after
    assert after["current"]["cash_payments"] == 5


def test_the_row_that_says_it_was_archived_stays(agency: Archived) -> None:
    with transaction(agency.settings.operational_url) as session:
        assert session.get_one(Profile, agency.gone.id).archived_at is not None
    lake = Path(agency.settings.lake)
    assert list(lake.rglob(f"*{agency.gone.id}*")) == []
