"""What a run that fails says to whoever began it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from touchledger.cli import main
from touchledger.settings import Settings, load


def test_a_build_that_ran_out_of_memory_names_the_settings_that_give_it_more(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT", "1KB")
    load.cache_clear()
    result = CliRunner().invoke(main, ["build", "--quiet"])
    assert (result.exit_code, result.stdout) == (1, "")
    way_out = "TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT, here 1KB: give it more, or lower TOUCHLEDGER_WAREHOUSE_THREADS.\n"
    assert way_out in result.stderr
    assert not list(settings.published.glob("served-*"))
