"""The folder of a run on Spark, which holds people: found again wherever it is, and never another deployment's."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event, Thread

import pytest

from orchestration import spark_run
from orchestration.erasure import drop_warehouse
from orchestration.locks import only_writer
from touchledger.settings import Settings


@pytest.fixture
def sharing(home: Path, tmp_path: Path) -> Settings:
    """A deployment whose runs are in a folder that others share; one of them was killed."""
    home.mkdir(exist_ok=True)
    settings = Settings(home=home, spark_folder=tmp_path / "shared")
    _killed(settings)
    return settings


def test_what_a_killed_run_left_goes_though_the_setting_names_another_folder_since(
    sharing: Settings, tmp_path: Path
) -> None:
    # people stayed there for good: neither a build nor an erasure looked, and nobody was told
    for elsewhere in (tmp_path / "other", None):
        drop_warehouse(sharing.model_copy(update={"spark_folder": elsewhere}))
        assert list((tmp_path / "shared").iterdir()) == []
        _killed(sharing)


def test_what_a_killed_run_left_in_the_state_folder_goes_though_a_shared_one_is_set_since(home: Path) -> None:
    home.mkdir(exist_ok=True)
    _killed(Settings(home=home))
    drop_warehouse(Settings(home=home, spark_folder=home.parent / "shared"))
    assert not (home / "spark").exists()


def test_what_a_killed_run_left_goes_though_the_state_folder_was_moved(sharing: Settings, tmp_path: Path) -> None:
    moved = sharing.home.rename(tmp_path / "moved")
    drop_warehouse(sharing.model_copy(update={"home": moved}))
    assert list((tmp_path / "shared").iterdir()) == []


def test_deployments_whose_state_folders_have_one_path_each_keep_their_own_run(
    sharing: Settings, tmp_path: Path
) -> None:
    # as in two containers: the lake of the one took the place of the other's in its midst, or was removed there
    theirs = spark_run.folder(sharing)
    sharing.home.rename(tmp_path / "of another container")
    sharing.home.mkdir()
    _killed(sharing)
    assert spark_run.folder(sharing) != theirs
    spark_run.clear(sharing)
    assert list((tmp_path / "shared").iterdir()) == [theirs]
    assert [path.name for path in theirs.iterdir()] == ["people"]


def test_a_folder_of_an_earlier_setting_that_cannot_be_removed_is_named(
    sharing: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_run, "ENDING_SECONDS", 0.0)
    left = spark_run.folder(sharing)
    left.rename(left.with_name("elsewhere"))
    left.symlink_to("elsewhere", target_is_directory=True)
    with pytest.raises(spark_run.LeftBehindError, match=f"^{left} holds people"):
        spark_run.clear(sharing.model_copy(update={"spark_folder": None}))
    left.unlink()
    spark_run.clear(sharing)
    assert not spark_run.is_left(sharing)


def test_what_a_stopped_build_left_is_cleared_once_its_dbt_has_ended(sharing: Settings) -> None:
    # Ctrl-C reaches both at once, and dbt's process may end after the command has come so far
    held, lock = Event(), sharing.home / "locks" / "dbt.lock"

    def hold() -> None:
        with only_writer(lock, purpose="run dbt"):
            held.set()
            time.sleep(0.3)

    (ending := Thread(target=hold)).start()
    held.wait()
    spark_run.clear_after_a_stop(sharing)
    ending.join()
    assert not spark_run.is_left(sharing)


def _killed(settings: Settings) -> None:
    spark_run.make(settings)
    (spark_run.folder(settings) / "people").write_text("ann@example.com")
