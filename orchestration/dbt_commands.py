"""What a call of dbt does to the warehouse, read off its arguments before dbt itself is imported."""

from __future__ import annotations

from collections.abc import Sequence

# dbt's own commands: those that write tables or may, and the others
WRITING = frozenset({"build", "run", "retry", "seed", "snapshot", "clone", "run-operation"})
READING = frozenset(
    {"clean", "compile", "debug", "deps", "docs", "init", "list", "ls", "parse", "show", "source", "test"}
)
# flags of all commands that are followed by a value, which may be spelt like a command (`--log-level debug`)
VALUED = frozenset(
    {
        *("--defer-state", "--deprecated-defer", "--deprecated-favor-state", "--deprecated-state", "--state"),
        *("--log-file-max-bytes", "--log-format", "--log-format-file", "--log-level", "--log-level-file", "--log-path"),
        *("--indirect-selection", "--maximum-seed-size-mib", "--partial-parse-file-path", "--printer-width"),
        *("--profile", "--record-timing-info", "-r", "--target", "-t", "--v2-parser", "--warn-error-options"),
    }
)
FULL_REFRESH = "--full-refresh"
# What may be said beside `build` or `run` while every model is still built, and with which values; None is any. What is
# not here may leave models out, or make them of other rows, so that nothing could be kept of them.
HARMLESS: dict[str, set[str] | None] = {
    "--select": {"fqn:*"},
    "--exclude": {"resource_type:unit_test"},
    "--exclude-resource-type": {"test", "unit_test"},
    FULL_REFRESH: set(),
    "--no-write-json": set(),
    "--quiet": set(),
    **dict.fromkeys(("--project-dir", "--profiles-dir", "--target-path", "--log-path", "--log-format-file"), None),
}


def writes(arguments: Sequence[str]) -> bool:
    """Whether dbt, called so, may write the warehouse; true in doubt, where a value is named as one that may."""
    return not WRITING.isdisjoint(arguments)


def is_whole(arguments: Sequence[str]) -> bool:
    """Whether dbt, called so, builds every model."""
    at = _command(arguments)
    if at is None or arguments[at] not in ("build", "run"):
        return False
    allowed: set[str] | None = set()
    for argument in [*arguments[:at], *arguments[at + 1 :]]:
        if argument.startswith("-"):
            if argument not in HARMLESS:
                return False
            allowed = HARMLESS[argument]
        elif allowed is not None and argument not in allowed:
            return False
    return True


def judges(arguments: Sequence[str]) -> bool:
    """Whether dbt, called so, runs the data tests of what it builds."""
    at = _command(arguments)
    return at is not None and arguments[at] == "build" and "test" not in arguments


def fully(arguments: Sequence[str]) -> list[str]:
    """The arguments of a build or run that makes anew all that it builds; those of other commands as they are."""
    at = _command(arguments)
    if at is None or arguments[at] not in ("build", "run") or FULL_REFRESH in arguments:
        return list(arguments)
    return [*arguments[: at + 1], FULL_REFRESH, *arguments[at + 1 :]]


def _command(arguments: Sequence[str]) -> int | None:
    """Where the command stands: flags of all commands may be written before it, some with a value."""
    is_value = False
    for at, argument in enumerate(arguments):
        if argument in WRITING | READING and not is_value:
            return at
        is_value = argument in VALUED or HARMLESS.get(argument, set()) is None
    return None
