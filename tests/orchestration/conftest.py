"""What tests of Dagster's own state share."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchledger.settings import Settings


@pytest.fixture
def deployment(home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A state folder beside either operational database, whose instance of Dagster is yet to be made."""
    for name in ("DAGSTER_HOME", "TOUCHLEDGER_DAGSTER_STORAGE", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "")
    return Settings(home=home, database_url=database_url)  # type: ignore[arg-type]
