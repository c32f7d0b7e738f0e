"""The state folder and the operational database, made ready for a command."""

from __future__ import annotations

from api import logs
from api.migrate import upgrade
from orchestration.instance import prepare_instance
from orchestration.lake import Lake
from touchledger.settings import Settings


def prepare(settings: Settings) -> None:
    """Make the state folder, bring the database to this version's schema, and make the lake's and Dagster's folders."""
    for folder in (settings.home, settings.inbox, settings.published, settings.home / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    logs.configure(settings.log_level, stream=(settings.home / "logs" / "commands.log").open("a", encoding="utf-8"))
    upgrade(settings.operational_url)
    prepare_instance(settings)
    Lake(settings.lake).prepare()
