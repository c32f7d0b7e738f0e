"""Files that could not be written to their end, as on a full disk: they take no room and nobody meets them."""

from __future__ import annotations

import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestration.erased_lake import rewrite_lake
from orchestration.lake import Lake
from tests.orchestration.test_erased_files import ADA, ada
from tests.orchestration.test_importer import PROFILE
from tests.orchestration.test_inbox import lake
from tests.orchestration.test_lake import BAD, land, touches

__all__ = ["lake"]

ROOM = 100_000


@contextmanager
def little_room() -> Iterator[None]:
    """No file of this process grows beyond `ROOM`: what would is refused as on a full disk, at its end too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def much(**changes: Any) -> list[dict[str, Any]]:
    """Records that cannot be packed into `ROOM`."""
    chance = random.Random(7)
    return touches(*(f"{chance.getrandbits(256):x}" for _ in range(8_000)), **changes)


def unfinished(lake: Lake) -> list[Path]:
    return [path for path in lake.root.rglob("*.tmp") if path.name != "._seq.tmp"]


def test_a_landing_that_the_disk_refuses_takes_no_room_and_comes_whole_once_there_is_some(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    # where its end could not be written either, what was written stayed and kept the disk full for everybody
    monkeypatch.setattr("orchestration.chunks.MOST_RECORDS", 10)
    records = [*touches("a"), *touches("b", **BAD)] * 10

    def full_after_some() -> Iterator[dict[str, Any]]:
        yield from records
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        yield from records

    with little_room(), pytest.raises(OSError, match="too large"):
        land(lake, full_after_some())
    assert unfinished(lake) == []
    assert land(lake, records).rows_in == len(records)


def test_an_erasure_that_the_disk_refuses_takes_no_room_and_leaves_the_file_as_it_was(lake: Lake) -> None:
    landed = land(lake, much(email=ADA), profile_id=PROFILE)
    before = landed.path.read_bytes()
    with little_room(), pytest.raises(OSError, match="too large"):
        rewrite_lake(lake, ada(), {"email": [ADA]})
    assert (unfinished(lake), landed.path.read_bytes() == before) == ([], True)
    assert rewrite_lake(lake, ada(), {"email": [ADA]}) == {"touches": 8_000}
