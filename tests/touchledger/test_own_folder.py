"""The state folder is for its user alone where we make it, and as its operator wants it where it is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.end_to_end.command import Deployment
from touchledger import own_folder
from touchledger.doctor_files import open_to_all
from touchledger.serving import only_dagster
from touchledger.settings import Settings
from touchledger.state import logging_to_file, prepare


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def served(settings: Settings) -> None:
    with only_dagster(settings):
        pass


def logged(settings: Settings) -> None:
    with logging_to_file(settings):
        pass


@pytest.fixture
def lenient() -> Iterator[None]:
    """As on a machine whose users share all that they make."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def found() -> Iterator[Path]:
    """A folder that every user of this machine finds; those of pytest are its user's alone."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("begin", [prepare, served, logged, Settings.signing_key])
@pytest.mark.usefixtures("lenient")
def test_whatever_makes_the_folder_first_keeps_others_out(tmp_path: Path, begin: Callable[[Settings], object]) -> None:
    # databases, lake and snapshots had the mode of the umask: on most machines everybody could read them
    settings = Settings(home=tmp_path / "new" / "home")
    begin(settings)
    assert (mode(settings.home), mode(settings.home.parent)) == (0o700, 0o777)


def test_a_command_leaves_a_folder_that_it_did_not_make_as_it_was(tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    home.chmod(0o2775)
    Deployment(home).run_here("status", "--quiet")
    assert (home.stat().st_mode & 0o7777, mode(home / "logs") & 0o050) == (0o2775, 0o050)


def test_the_doctor_tells_of_what_everybody_may_read(found: Path) -> None:
    settings = Settings(home=found / "home")
    assert list(open_to_all(settings)) == []
    own_folder.make(settings.home)
    for name in ("operational.db", "secret.key"):
        (settings.home / name).touch(mode=0o644)
    assert list(open_to_all(settings)) == []
    settings.home.chmod(0o750)
    assert list(open_to_all(settings)) == []
    # the names of its files are known
    settings.home.chmod(0o711)
    (finding,) = open_to_all(settings)
    assert (finding.verdict, finding.found) == ("warn", f"every user of this machine may read {settings.home}")
    assert finding.way_out == f"`chmod o-rwx {settings.home}` keeps them out"
    found.chmod(0o700)
    assert list(open_to_all(settings)) == []


def test_the_doctor_follows_a_link_to_a_lake_that_everybody_may_read(found: Path) -> None:
    settings = Settings(home=found / "home")
    own_folder.make(settings.home)
    (there := found / "disk").mkdir()
    there.chmod(0o755)
    settings.lake.symlink_to(there)
    (finding,) = open_to_all(settings)
    assert finding.found == f"every user of this machine may read {there.resolve()}"
    there.chmod(0o750)
    assert list(open_to_all(settings)) == []


def test_a_link_that_leads_nowhere_is_open_to_nobody(found: Path) -> None:
    # the doctor ended over a link to itself
    own_folder.make(home := found / "home")
    for name, to in (("lake", "lake"), ("logs", "nowhere")):
        (home / name).symlink_to(to)
    home.chmod(0o755)
    assert list(open_to_all(Settings(home=home))) == []


def test_a_folder_of_spark_that_all_may_read_is_told_also_while_nothing_is_built(
    found: Path, settings: Settings
) -> None:
    # a run builds everybody's paths there, under the umask, and the doctor looked at the state folder alone
    folder = found / "spark"
    on_spark = settings.model_copy(update={"spark_folder": folder})
    assert list(open_to_all(on_spark)) == []
    folder.mkdir()
    folder.chmod(0o755)
    (finding,) = open_to_all(on_spark)
    assert (finding.verdict, finding.found) == ("warn", f"every user of this machine may read {folder}")
    assert finding.way_out == f"`chmod o-rwx {folder}` keeps them out"
    folder.chmod(0o750)
    assert list(open_to_all(on_spark)) == []
