"""dbt's process, started before it is needed: it imports what dbt consists of while this process reads what landed.

To import dbt takes two to three seconds. The process then waits for what Dagster would have started it with
(`orchestration/dbt_process.py`); told nothing, it ends and has done nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from orchestration.dbt_manifest import PROJECT, executable
from orchestration.dbt_process import WAIT
from orchestration.orphans import PARENT_VARIABLE

# what dagster-dbt, which takes this module for `subprocess` (orchestration/dagster_dbt.py), asks of it beside Popen
PIPE, STDOUT = subprocess.PIPE, subprocess.STDOUT

_waiting: list[subprocess.Popen[bytes]] = []


@contextmanager
def started() -> Iterator[None]:
    """Let a process wait for `Popen`, unless one waits already; it ends with the block where nobody needed it."""
    if not _waiting:
        # unbuffered, as Dagster wants it: Python reads that when it starts, before it is told anything
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", PARENT_VARIABLE: str(os.getpid())}
        _waiting.append(
            subprocess.Popen(  # noqa: S603 - our own executable, no shell
                [executable(), WAIT], stdin=PIPE, stdout=PIPE, stderr=STDOUT, cwd=PROJECT, env=environment
            )
        )
    try:
        yield
    finally:
        while _waiting:
            _end(_waiting.pop())


def Popen(
    args: Sequence[str], *, stdout: int, stderr: int, env: Mapping[str, str], cwd: Path
) -> subprocess.Popen[bytes]:
    """A running dbt as `subprocess.Popen` gives one: the process that waits, where one does, else a new one."""
    process = _waiting.pop() if _waiting and [args[0], Path(cwd)] == [executable(), PROJECT] else None
    if process and process.stdin:
        try:
            with process.stdin as told:
                told.write(json.dumps({"arguments": args[1:], "environment": {**env}}).encode())
            # as of one that was started without it
            process.stdin = None
            return process
        except BrokenPipeError:
            # somebody killed it
            _end(process)
    return subprocess.Popen(args, stdout=stdout, stderr=stderr, env=env, cwd=cwd)  # noqa: S603 - as above


def _end(process: subprocess.Popen[bytes]) -> None:
    with process:
        process.kill()
