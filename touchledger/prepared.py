"""The settings and the state folder that a command begins with."""

from __future__ import annotations

import click

from touchledger.output import spelt
from touchledger.settings import Settings, WrongSettingError, load, unknown_variables


def told_settings() -> Settings:
    """The settings of the environment; a name that is almost a setting is told. ClickException for a wrong one."""
    for name, meant in unknown_variables().items():
        if meant:
            click.echo(f"{spelt(name)} is no setting and changes nothing; {meant} is one.", err=True)
    try:
        return load()
    except WrongSettingError as wrong:
        raise click.ClickException(str(wrong)) from None


def prepared() -> Settings:
    """The same, with the state folder made, the database migrated, and a log for as long as the command runs."""
    from touchledger.state import logging_to_file, prepare

    settings = told_settings()
    click.get_current_context().with_resource(logging_to_file(settings))
    prepare(settings)
    return settings
