"""What every deployment of a test needs and is dear to make: a migrated database, and the application."""

from __future__ import annotations

import copy
import tempfile
from functools import cache
from pathlib import Path

from flask import Flask
from pydantic import SecretStr

from api.app import create_app
from api.db import close_engines
from api.migrate import upgrade
from touchledger.settings import Settings

NOBODYS = Path(tempfile.gettempdir(), "touchledger-nobody")


def settings_of(home: Path, database_url: str | None = None) -> Settings:
    """Settings of a state folder, all else as it is by default: a copy, for to read the environment takes longer."""
    given = None if database_url is None else SecretStr(database_url)
    return _defaults().model_copy(update={"home": home.resolve(), "database_url": given})


def migrate(settings: Settings) -> None:
    """Put a migrated, empty SQLite database where the settings say: a copy of one that was migrated once."""
    Path(settings.operational_url.removeprefix("sqlite:///")).write_bytes(_migrated())


def application(settings: Settings) -> Flask:
    """The product's application for these settings; its routes are put together once and shared."""
    app = copy.copy(_assembled())
    app.config = copy.copy(app.config)
    app.config["SETTINGS"] = settings
    return app


@cache
def _defaults() -> Settings:
    # whoever asks first may be a test that has set variables; the one that all tests have is tests/conftest.py's
    return Settings(_env_prefix="NOBODYS_", home=NOBODYS, token_key=SecretStr("of tests"))


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/operational.db"
        upgrade(url)
        # closing the last connection brings everything into the one file
        close_engines(url)
        return Path(folder, "operational.db").read_bytes()


@cache
def _assembled() -> Flask:
    return create_app(_defaults())
