"""The product's command: as a user runs it, in a process with an environment of its own, or cheaper in this one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from api.db import close_engines
from tests.fixtures.waiting_dbt import waiting_dbt
from touchledger.cli import main
from touchledger.settings import Settings, load

COMMAND = Path(sys.executable).with_name("touchledger")


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Deployment:
    """One state folder and the settings it runs under, and what else its environment has."""

    home: Path
    overrides: dict[str, str] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TOUCHLEDGER_")}
        ours = {f"TOUCHLEDGER_{name}": value for name, value in self.overrides.items()}
        return {**kept, "TOUCHLEDGER_HOME": str(self.home), **ours, **self.beside}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the command and leave it running."""
        return subprocess.Popen(
            [COMMAND, *arguments], env=self.environment, cwd=self.home.parent, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def attempt(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end, whatever that is."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=280)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def run(self, *arguments: str) -> str:
        """Run the command, which must succeed; returns what it printed."""
        done = self.attempt(*arguments)
        assert done.returncode == 0, f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    def attempt_here(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The same in this process, which has the libraries loaded: a process of its own takes seconds to load them."""
        before = dict(os.environ)
        os.environ |= self.environment
        load.cache_clear()
        try:
            with waiting_dbt() if arguments[0] == "build" else nullcontext():
                done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        finally:
            os.environ.clear()
            os.environ |= before
            load.cache_clear()
            close_engines(Settings(home=self.home).operational_url)
        return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    def run_here(self, *arguments: str) -> str:
        """Run the command in this process; it must succeed. Returns what it printed."""
        done = self.attempt_here(*arguments)
        assert done.returncode == 0, f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()
