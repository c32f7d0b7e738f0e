"""Folders of the lake whose files no glob would find stop whoever reads it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from orchestration.lake import Lake
from tests.orchestration.test_lake import land, rows, touches
from touchledger.doctor_files import imports
from touchledger.doctor_files import lake as looked_at
from touchledger.ends import told_in_a_line
from touchledger.settings import Settings


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake(tmp_path / "lake")
    made.prepare()
    return made


def test_a_folder_that_may_not_be_read_is_refused(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    # its rows were missing in all that was built, published and called well
    closed = land(lake, touches("a")).path.parent
    lake.prepare()
    # who runs the tests may be one for whom nothing is closed
    monkeypatch.setattr(os, "access", lambda path, _: path != closed)
    with pytest.raises(PermissionError) as told:
        lake.prepare()
    assert told.value.filename == str(closed)
    (finding,) = looked_at(Settings(home=lake.root.parent))
    assert (finding.verdict, finding.found) == ("fail", f"{closed} may not be read")


def test_a_link_that_duckdb_does_not_follow_is_refused(lake: Lake, tmp_path: Path) -> None:
    # moved to another disk and linked, it was counted by the doctor and read by no model
    source = land(lake, touches("a")).path.parent
    profile, dataset = source.parent, source.parent.parent
    for moved, is_read in ((dataset, True), (profile, False), (source, False)):
        target = moved.rename(tmp_path / f"moved-{moved.name}")
        moved.symlink_to(target)
        assert bool(rows(lake)) is is_read
        if is_read:
            lake.prepare()
        else:
            with pytest.raises(OSError, match="is a link, which is not followed so deep") as told:
                lake.prepare()
            assert told.value.filename == str(moved)
            (finding,) = looked_at(Settings(home=lake.root.parent))
            assert (finding.verdict, finding.found.partition(" ")[0]) == ("fail", str(moved))
        moved.unlink()
        target.rename(moved)


def test_a_lake_that_may_not_be_entered_ends_no_look_of_the_doctor(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the doctor ended there, and sent to itself
    Lake(settings.lake).prepare()
    stat, access, below = os.stat, os.access, f"{settings.lake}/"

    def closed(path: Any, **how: Any) -> os.stat_result:
        if str(path).startswith(below):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **how)

    # who runs the tests may be one for whom nothing is closed
    monkeypatch.setattr(os, "stat", closed)
    monkeypatch.setattr(os, "access", lambda path, how: path != settings.lake and access(path, how))
    (finding,) = (one for look in (looked_at, imports) for one in look(settings))
    assert (finding.verdict, finding.found) == ("fail", f"{settings.lake} may not be read")


@pytest.mark.parametrize("depth", ["lake", "data set", "profile"])
def test_a_link_that_leads_nowhere_is_refused_and_told(lake: Lake, tmp_path: Path, depth: str) -> None:
    # of a disk that was not mounted commands said "File exists; the doctor says more", and the doctor that all is well
    dataset = land(lake, touches("a")).path.parent.parent.parent
    link = {"lake": lake.root, "data set": dataset, "profile": dataset / "gone"}[depth]
    if link.exists():
        link.rename(tmp_path / "moved")
    link.symlink_to(tmp_path / "not mounted")
    with pytest.raises(FileNotFoundError) as told:
        lake.prepare()
    assert told_in_a_line(told.value) == f"{link}: is a link that leads nowhere; `touchledger doctor` says more"
    (finding,) = looked_at(Settings(home=lake.root.parent))
    assert (finding.verdict, finding.found) == ("fail", f"{link} is a link that leads nowhere")
    assert "mount" in finding.way_out


def test_a_link_of_a_file_that_leads_nowhere_is_told(lake: Lake, tmp_path: Path) -> None:
    # the build failed over it, and the doctor took it for a file that had just been replaced
    path = land(lake, touches("a")).path
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "not mounted")
    (finding,) = looked_at(Settings(home=lake.root.parent))
    assert (finding.verdict, finding.found) == ("fail", f"{path} is a link that leads nowhere")
