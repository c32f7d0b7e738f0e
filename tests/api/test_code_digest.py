"""Promise: after an upgrade no cache takes what it holds for an answer of the new version."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from api import code_digest
from tests.api.conftest import Caller


def digest_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setattr(code_digest, "SOURCES", folder)
    return code_digest.code_digest.__wrapped__()


def test_code_is_known_by_its_names_and_content_and_by_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("one", "same", "changed", "renamed"):
        (tmp_path / folder / "v1").mkdir(parents=True)
        (tmp_path / folder / "v1" / ("rows.py" if folder != "renamed" else "row.py")).write_text("a = 1")
    (tmp_path / "changed" / "v1" / "rows.py").write_text("a = 2")
    (tmp_path / "same" / "v1" / "rows.pyc").write_text("compiled")
    os.utime(tmp_path / "same" / "v1" / "rows.py", (0, 0))
    folders = [tmp_path / name for name in ("one", "same", "changed", "renamed")]
    one, same, changed, renamed = (digest_of(folder, monkeypatch) for folder in folders)
    assert (len(one), one == same, len({one, changed, renamed})) == (32, True, 3)


def test_an_answer_of_the_version_before_is_not_taken_for_one_of_this(
    caller: Caller, upgrade: Callable[[], None]
) -> None:
    # the answers of a route had gained a member, and caches went on with those of before to the next snapshot
    path = "/campaigns?date_from=2026-01-01&date_to=2026-01-31"
    known = {"If-None-Match": caller.get(path).headers["ETag"]}
    assert caller.get(path, headers=known).status_code == 304
    upgrade()
    anew = caller.get(path, headers=known)
    assert anew.status_code == 200
    assert caller.get(path, headers={"If-None-Match": anew.headers["ETag"]}).status_code == 304
