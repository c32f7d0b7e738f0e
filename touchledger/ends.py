"""How a command ends that cannot end well: in one line."""

from __future__ import annotations

import signal
from typing import Any

import click

STOPPED = 128 + signal.SIGINT


class Commands(click.Group):
    """Commands that Ctrl-C ends in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # pressed again, it would end what is about to end in the midst of it
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            click.echo("stopped; what was served before still is", err=True)
            raise SystemExit(STOPPED) from None
