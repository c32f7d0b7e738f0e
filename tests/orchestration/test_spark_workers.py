"""Workers of Spark that run as another user than the build."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.orchestration.test_spark_driver import asked_of_spark


def test_what_is_built_has_the_mode_of_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # in a folder of their group, workers of another user could make nothing: Hadoop has a umask of its own
    before = os.umask(0o002)
    try:
        log = asked_of_spark(tmp_path, monkeypatch, tables=[])
    finally:
        after = os.umask(before)
    assert after == 0o002
    assert [one[2] for one in log if one[1:2] == ("spark.hadoop.fs.permissions.umask-mode",)] == ["002"]
