"""What tests of Dagster's own state share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.orchestration import followed_lake
from touchledger.settings import Settings


@pytest.fixture
def deployment(home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A state folder beside either operational database, whose instance of Dagster is yet to be made."""
    for name in ("DAGSTER_HOME", "TOUCHLEDGER_DAGSTER_STORAGE", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "")
    return Settings(home=home, database_url=database_url)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def followed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `followed` copies: to land and to build takes longer than the tests of it."""
    home = tmp_path_factory.mktemp("followed")
    followed_lake.build(home)
    return home


@pytest.fixture
def followed(followed_once: Path, tmp_path: Path) -> Settings:
    """A lake of two landings of touches and one of conversions, and a warehouse that a build just made of them."""
    shutil.copytree(followed_once, tmp_path, dirs_exist_ok=True)
    return Settings(home=tmp_path)
