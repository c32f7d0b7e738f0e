"""What a build leaves half made keeps no room of a disk that lacks it, however the build ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy.exc import OperationalError

from orchestration import room
from orchestration.locks import only_writer
from orchestration.room import leaving_room, make_room
from orchestration.warehouse_state import end
from touchledger.settings import Settings
from touchledger.state import prepare


@pytest.fixture
def left(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What a build has left on a disk that is short."""
    monkeypatch.setattr(room, "SPARE_BYTES", 2**63)
    files = [settings.warehouse.with_name(f"warehouse.duckdb{ending}") for ending in ("", ".wal")]
    for file in files:
        file.write_bytes(b"half made")
    return files


@pytest.mark.parametrize("spare", [0, 2**63])
def test_a_build_that_fails_keeps_no_room_of_a_disk_that_lacks_it(
    settings: Settings, left: list[Path], monkeypatch: pytest.MonkeyPatch, spare: int
) -> None:
    # nobody published what it left, and until somebody made room the API could write nothing and answered 503
    monkeypatch.setattr(room, "SPARE_BYTES", spare)
    with pytest.raises(OSError, match="No space"), leaving_room(settings):
        raise OSError("No space left on device")
    assert [file.exists() for file in left] == [spare == 0] * 2


def test_a_command_begins_by_dropping_what_a_killed_build_left(settings: Settings, left: list[Path]) -> None:
    # on a full disk it ended with "disk I/O error" of the database, until somebody had removed the file by hand
    unusable = settings.model_copy(update={"database_url": SecretStr(f"sqlite:///{settings.home}")})
    with pytest.raises(OperationalError, match="unable to open"):
        prepare(unusable)
    assert not any(file.exists() for file in left)


@pytest.mark.parametrize("lock", ["warehouse", "dbt"])
def test_what_a_build_at_work_has_made_so_far_stays(settings: Settings, left: list[Path], lock: str) -> None:
    with only_writer(settings.home / "locks" / f"{lock}.lock", purpose="build"):
        make_room(settings)
    assert all(file.exists() for file in left)
    make_room(settings)
    assert not any(file.exists() for file in left)


@pytest.mark.parametrize("is_short", [True, False])
def test_a_warehouse_stays_where_it_is_whole_or_the_disk_has_room(
    settings: Settings, left: list[Path], monkeypatch: pytest.MonkeyPatch, is_short: bool
) -> None:
    if is_short:
        end(settings, "1")
    else:
        monkeypatch.setattr(room, "SPARE_BYTES", 0)
    make_room(settings)
    assert all(file.exists() for file in left)
