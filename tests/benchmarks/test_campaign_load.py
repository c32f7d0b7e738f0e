"""The load on GET /campaigns."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.campaign_load import main


def test_without_its_load_generator_it_says_so_before_it_publishes_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = CliRunner().invoke(main)
    assert (done.exit_code, done.output) == (1, "Error: closed loads need wrk (Debian package: wrk)\n")
