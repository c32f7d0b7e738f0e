"""How commands speak: to a person, or with --quiet and --json to a script."""

from __future__ import annotations

import errno
import functools
import itertools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import click
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

# more than any table needs: what goes into a file or a pipe has no width that it must keep to
UNBOUND = 10_000
ROWS_AT_ONCE = 1000
# controls, line ends, and what turns the direction of all that follows
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def spelt(text: str) -> str:
    """Other people's text for a terminal: what it would obey instead of showing is written as an escape (`\\x1b`)."""
    return _OBEYED.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def _console() -> Console:
    made = Console(file=sys.stdout, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = UNBOUND
    return made


@dataclass
class Output:
    """Where a command's words go. With `quiet` or `as_json` only the result is printed, and nothing while working."""

    quiet: bool = False
    as_json: bool = False
    console: Console = field(default_factory=_console)

    @property
    def is_bare(self) -> bool:
        return self.quiet or self.as_json

    def say(self, text: RenderableType) -> None:
        """Words for a person."""
        if not self.is_bare:
            self.console.print(text)

    def warn(self, text: str) -> None:
        """What did not go well, to whoever reads: a script finds it beside its result, on standard error."""
        if self.is_bare:
            click.echo(spelt(text), err=True)
        else:
            self.console.print(f"[yellow]{escape(spelt(text))}[/]")

    def result(self, bare: str, data: Any, *shown: RenderableType) -> None:
        """The command's result: bare for --quiet, `data` for --json, else `shown` (or the bare text).

        Texts are not wrapped: what is printed to be copied stays one line.
        """
        with _printing():
            if self.as_json:
                sys.stdout.write(json.dumps(data, default=_plain) + "\n")
            elif self.quiet:
                sys.stdout.write(bare + "\n" if bare else "")
            else:
                for part in shown or (escape(bare),):
                    self.console.print(part, soft_wrap=isinstance(part, str))
            # what serves goes on for long after its result
            sys.stdout.flush()

    def listing(self, rows: Iterator[Any], shown: Callable[[list[Any]], RenderableType]) -> None:
        """A result of any length, some rows at a time: one JSON list, tables, or for --quiet how many there are."""
        count = 0
        parts = itertools.takewhile(len, (list(itertools.islice(rows, ROWS_AT_ONCE)) for _ in itertools.count()))
        for part in parts:
            with _printing():
                if self.as_json:
                    sys.stdout.write((", " if count else "[") + json.dumps(part, default=_plain)[1:-1])
                elif not self.quiet:
                    self.console.print(shown(part))
            count += len(part)
        with _printing():
            if self.as_json:
                sys.stdout.write("]\n" if count else "[]\n")
            elif self.quiet:
                sys.stdout.write(f"{count}\n")
            elif not count:
                self.console.print(shown([]))
            sys.stdout.flush()

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """A line with the time it takes, while the block works."""
        if self.is_bare:
            yield
            return
        columns = (SpinnerColumn(finished_text="[green]ok[/]"), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self.console, auto_refresh=self.console.is_terminal) as progress:
            task = progress.add_task(text, total=1)
            yield
            progress.update(task, completed=1)


@contextmanager
def _printing() -> Iterator[None]:
    """A result that could not be printed is told as that: its disk need not be the one of the state folder."""
    try:
        yield
    except OSError as error:
        # nobody reads any more, which is no fault
        if error.errno == errno.EPIPE:
            raise
        raise click.ClickException(f"the result could not be written to standard output: {error.strerror}") from None


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def speaking(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command --quiet and --json, and its `Output` as the first argument."""

    @click.option("--quiet", "-q", is_flag=True, help="Print the bare result and nothing else.")
    @click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
    @functools.wraps(command)
    def speaks(*args: Any, quiet: bool, as_json: bool, **kwargs: Any) -> Any:
        return command(Output(quiet, as_json), *args, **kwargs)

    return speaks
