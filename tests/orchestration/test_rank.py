"""From scores in the warehouse to the served table: two looks four weeks apart, and what each build makes of them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest

from orchestration.assets.scores import LOOKS, TOLD, ranker
from orchestration.likelihoods import TOLD_FOR_DAYS, told_file, write_likelihoods
from orchestration.locks import only_writer
from orchestration.rank import TIER, as_table, look, standings, tell, train
from orchestration.ranking.evaluation import RECIPE
from orchestration.ranking.lifespan import DAYS_LEFT
from orchestration.ranking.likelihood import EPOCH, MEASURE
from orchestration.ranking.standing import PROVEN, STALE_AFTER
from orchestration.ranking_inputs import Known, known, read
from orchestration.ranking_store import KEPT, RankingStore
from orchestration.resources import Deployment
from tests.factories import ranked_warehouses
from tests.factories.ad_worlds import World
from tests.factories.wear_worlds import FIRST_DAY, WearWorld
from touchledger import settings as settings_module
from touchledger.settings import Settings

SCORES = World(accounts=3, ads=60, weeks=38, quality=0.5)
WEAR = WearWorld(accounts=3, ads=60, days=290, wear=0.12)
COLUMNS = "profile_key, score_window, entity_key, measure, value, label, status, reason, model_version"
MEASURES = {MEASURE, "hazard_30d_degradation", "hazard_30d_pause", TIER, DAYS_LEFT}


def ranked(settings: Settings) -> Known:
    """One day of the ranker."""
    tables = read(settings)
    assert tables is not None
    store, today = RankingStore(settings), known(tables)
    model = train(today, store)
    assert model is not None
    look(today, store)
    store.tell(as_table(tell(today, model, store), model, today))
    return today


def rows(settings: Settings) -> list[dict[str, Any]]:
    write_likelihoods(settings)
    with duckdb.connect(str(settings.warehouse), read_only=True) as warehouse:
        found = warehouse.execute(f"select {COLUMNS} from marts.ad_likelihoods order by all").fetchall()
    return [dict(zip(COLUMNS.split(", "), row, strict=True)) for row in found]


def days_later(settings: Settings, days: int) -> None:
    """A build of later scores, with what was told before."""
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute(f"update marts.ad_scores set score_date = score_date + {days}")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A deployment on which the ranker ran once; read it only."""
    settings = Settings(home=tmp_path_factory.mktemp("first"))
    ranked_warehouses.build(settings, *ranked_warehouses.world_until(SCORES.history(1), WEAR.panel(1), weeks=4))
    ranked(settings)
    return settings


@pytest.fixture(scope="module")
def second(first: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The same four weeks later; read it only."""
    settings = Settings(home=tmp_path_factory.mktemp("second"))
    shutil.copytree(first.home, settings.home, dirs_exist_ok=True)
    ranked_warehouses.build(settings, SCORES.history(1), WEAR.panel(1))
    ranked(settings)
    return settings


@pytest.fixture
def mine(second: Settings, tmp_path: Path) -> Settings:
    """A copy of the second day that may be changed."""
    return Settings(home=shutil.copytree(second.home, tmp_path / "mine"))


def test_after_one_look_everything_is_withheld_by_the_model_that_waits(first: Settings) -> None:
    told = rows(first)
    assert {row["measure"] for row in told} == MEASURES
    assert {row["status"] for row in told} == {"withheld"}
    assert {row["reason"] for row in told if row["measure"] == MEASURE} == {"pending_confirmation"}
    assert {row["model_version"] for row in told} == {1}


def test_after_two_looks_each_running_ad_has_its_likelihood_in_every_window(second: Settings) -> None:
    told = [row for row in rows(second) if row["measure"] == MEASURE]
    assert {row["reason"] for row in told} <= {PROVEN, "not_scored"}
    served = [row for row in told if row["status"] == "served"]
    assert len(served) > 0.9 * len(told)
    assert all(0 < row["value"] < 1 for row in served)
    assert sum(row["value"] for row in served) / len(served) == pytest.approx(0.25, abs=0.06)
    by_ad = {(row["profile_key"], row["entity_key"]): row["value"] for row in served}
    assert all(by_ad[row["profile_key"], row["entity_key"]] == row["value"] for row in served)
    assert set(Counter(row["score_window"] for row in told).values()) == {len(told) // 4}


def test_a_value_stands_only_where_it_is_served_and_no_row_is_of_the_rules(second: Settings) -> None:
    for row in rows(second):
        assert row["status"] in ("served", "withheld")
        if row["measure"] == TIER:
            assert row["value"] is None
            assert (row["label"] is not None) == (row["status"] == "served")
        else:
            assert row["label"] is None
            assert (row["value"] is not None) == (row["status"] == "served")
        assert (row["reason"] in (PROVEN, "already_fatigued")) or row["status"] == "withheld"
        assert (row["model_version"] is None) == (row["reason"] in ("not_scored", "no_baseline"))


def test_worn_ads_have_a_high_tier_and_no_chance(second: Settings) -> None:
    told = {(row["score_window"], row["profile_key"], row["entity_key"], row["measure"]): row for row in rows(second)}
    tiers = {key[:3]: row for key, row in told.items() if key[3] == TIER and row["reason"] == "already_fatigued"}
    assert tiers
    for key, row in tiers.items():
        assert (row["label"], row["status"]) == ("high", "served")
        chance = told[*key, "hazard_30d_degradation"]
        assert (chance["status"], chance["reason"], chance["value"]) == ("withheld", "already_fatigued", None)


def test_days_of_life_stand_on_a_look_of_their_own(first: Settings, second: Settings) -> None:
    assert {row["reason"] for row in rows(first) if row["measure"] == DAYS_LEFT} == {"pending_confirmation"}
    told = {row["entity_key"]: row for row in rows(second) if row["measure"] == DAYS_LEFT}
    assert {row["reason"] for row in told.values()} >= {PROVEN, "already_fatigued"}
    age = WEAR.days - 1 - WEAR.panel(1).delivered.argmax(axis=1)
    left = [row["value"] - age[ad - 1] for ad, row in told.items() if row["status"] == "served"]
    assert 0 < min(left) < max(left) <= 90


def test_a_profile_that_the_ranker_never_saw_has_no_rows(mine: Settings) -> None:
    with duckdb.connect(str(mine.warehouse)) as warehouse:
        warehouse.execute("update marts.profiles set profile_id = 'new here' where profile_key = 2")
    assert {row["profile_key"] for row in rows(mine)} == {1, 3}


def test_an_ad_that_began_after_the_ranker_ran_is_not_scored(mine: Settings) -> None:
    newcomer = rows(mine)[0]["entity_key"]
    with duckdb.connect(str(mine.warehouse)) as warehouse:
        warehouse.execute("update marts.entities set entity_id = 'new ad' where entity_key = ?", [newcomer])
    told = [row for row in rows(mine) if row["measure"] == MEASURE and row["entity_key"] == newcomer]
    assert {(row["status"], row["reason"], row["model_version"]) for row in told} == {("withheld", "not_scored", None)}


@pytest.mark.parametrize(("days", "status"), [(TOLD_FOR_DAYS, "served"), (TOLD_FOR_DAYS + 1, "withheld")])
def test_what_was_told_is_served_for_a_week(mine: Settings, days: int, status: str) -> None:
    days_later(mine, days)
    told = {(row["status"], row["reason"]) for row in rows(mine) if row["measure"] == MEASURE}
    assert (status, PROVEN if status == "served" else "stale") in told
    assert ("served" in {one for one, _ in told}) == (status == "served")


def test_values_of_a_profile_whose_data_lagged_are_as_old_as_that_data(mine: Settings) -> None:
    with duckdb.connect(str(mine.warehouse)) as warehouse:
        for table in ("intermediate.int_score_history", "intermediate.int_score_history_layers"):
            warehouse.execute(f"update {table} set as_of = as_of - {TOLD_FOR_DAYS + 1} where profile_key = 2")
    ranked(mine)
    served = {row["profile_key"] for row in rows(mine) if row["measure"] == MEASURE and row["status"] == "served"}
    # its newest scores are of today, and what was told of it is not
    assert served == {1, 3}


def test_a_look_too_old_makes_the_newest_values_stale(mine: Settings) -> None:
    store = RankingStore(mine)
    newest = store.looks(MEASURE).taken[-1].day
    assert standings(store, newest + STALE_AFTER)[MEASURE].reason == PROVEN
    assert standings(store, newest + STALE_AFTER + timedelta(days=1))[MEASURE].reason == "stale"


def test_a_damaged_file_leaves_the_rules_and_says_so(mine: Settings) -> None:
    told_file(mine).write_bytes(b"half a file")
    written = write_likelihoods(mine)
    assert written.rows == 0
    assert written.problem
    assert rows(mine) == []


def test_a_model_is_kept_for_a_week_and_a_look_for_four(mine: Settings) -> None:
    store = RankingStore(mine)
    before = store.newest()
    assert before and before.version == 2
    ranked(mine)
    after = store.newest()
    assert after and after.version == 2
    assert [len(store.looks(measure).taken) for measure in (MEASURE, "hazard_30d_degradation")] == [2, 2]


def test_half_a_model_is_no_model(mine: Settings) -> None:
    store = RankingStore(mine)
    (mine.home / "ranking" / "models" / ".building-3").mkdir()
    newest = store.newest()
    assert newest and newest.version == 2
    assert store.next_version() == 3
    store.add(replace(newest, version=3))
    found = store.newest()
    assert found and found.version == 3


def test_the_newest_models_are_kept_and_a_number_is_never_given_twice(mine: Settings) -> None:
    store = RankingStore(mine)
    newest = store.newest()
    assert newest
    for version in range(3, 12):
        store.add(replace(newest, version=version))
    folders = {int(path.name) for path in (mine.home / "ranking" / "models").iterdir()}
    assert folders == set(range(12 - KEPT, 12))
    assert store.next_version() == 12


def test_looks_and_models_of_another_recipe_prove_nothing(mine: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestration.ranking_store.RECIPE", RECIPE + 1)
    store = RankingStore(mine)
    assert store.newest() is None
    assert store.looks(MEASURE).taken == ()
    assert store.next_version() == 3


@pytest.fixture
def deployed(mine: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(mine.home))
    settings_module.load.cache_clear()
    yield mine
    settings_module.load.cache_clear()


def test_the_asset_shows_its_looks_as_pictures_and_why_each_measure_stands_where_it_does(deployed: Settings) -> None:
    done = dg.materialize([ranker], resources={"deployment": Deployment()})
    assert done.success
    by_key = {one.asset_key: one.metadata for one in done.asset_materializations_for_node("ranker")}
    assert "data:image/png;base64," in str(by_key[LOOKS][MEASURE].value)
    assert by_key[TOLD]["standing"].value[MEASURE] == PROVEN
    assert by_key[TOLD]["day"].value == str(EPOCH + timedelta(days=FIRST_DAY + WEAR.days - 1))


def test_two_runs_of_the_ranker_never_write_its_files_at_once(deployed: Settings) -> None:
    with only_writer(deployed.home / "locks" / "ranking.lock", purpose="rank the ads"):
        other = dg.materialize([ranker], resources={"deployment": Deployment()}, raise_on_error=False)
    assert not other.success
    assert dg.materialize([ranker], resources={"deployment": Deployment()}).success


def test_without_scores_nothing_is_told_and_nothing_fails(deployed: Settings) -> None:
    with duckdb.connect(str(deployed.warehouse)) as warehouse:
        warehouse.execute("delete from intermediate.int_score_history")
    assert told_file(deployed).exists()
    assert dg.materialize([ranker], resources={"deployment": Deployment()}).success
    assert not told_file(deployed).exists()
