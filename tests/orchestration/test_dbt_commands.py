"""What a call of dbt does to the warehouse; what follows for builds is in test_increment.py."""

from __future__ import annotations

import pytest

from orchestration.dbt_commands import READING, VALUED, WRITING, fully, is_whole, judges, writes


def test_every_command_of_dbt_is_known_to_write_or_not_to() -> None:
    from dbt.cli.main import cli

    assert WRITING.isdisjoint(READING)
    assert set(cli.commands) == WRITING | READING
    # a value of theirs may be spelt like a command
    assert {name for flag in cli.params if not getattr(flag, "is_flag", False) for name in flag.opts} == VALUED


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["build"], ["build", "--full-refresh"]),
        (["--quiet", "run", "--no-write-json"], ["--quiet", "run", "--full-refresh", "--no-write-json"]),
        (["--target-path", "run", "build"], ["--target-path", "run", "build", "--full-refresh"]),
        (["build", "--full-refresh"], ["build", "--full-refresh"]),
        (["--log-level", "debug", "build"], ["--log-level", "debug", "build", "--full-refresh"]),
        (["--target", "show", "run"], ["--target", "show", "run", "--full-refresh"]),
        # dbt repeats it as it was, whatever is said now
        (["retry"], ["retry"]),
        (["list", "--select", "run"], ["list", "--select", "run"]),
        (["--version"], ["--version"]),
    ],
)
def test_a_build_is_made_whole_behind_its_command(arguments: list[str], told: list[str]) -> None:
    assert fully(arguments) == told


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["build"], (True, True, True)),
        (["--quiet", "build"], (True, True, True)),
        (["--quiet", "run"], (True, True, False)),
        (["--debug", "build"], (True, False, True)),
        (["--quiet", "build", "--exclude-resource-type", "test"], (True, True, False)),
        (["--log-path", "docs", "build"], (True, True, True)),
        (["seed"], (True, False, False)),
        (["--quiet", "test"], (False, False, False)),
        ([], (False, False, False)),
    ],
)
def test_flags_may_be_written_before_the_command(arguments: list[str], wanted: tuple[bool, bool, bool]) -> None:
    assert (writes(arguments), is_whole(arguments), judges(arguments)) == wanted
