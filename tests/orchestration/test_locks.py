"""One writer, whose lock ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestration.locks import WriterBusyError, among_others, only_writer

HOLD = """
import sys, time
from pathlib import Path
from orchestration.locks import only_writer
with only_writer(Path(sys.argv[1]), purpose="hold it"):
    print("held", flush=True)
    time.sleep(300)
"""


def hold(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_is_refused_and_told_who_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.lock"
    holder = hold(path)
    try:
        with pytest.raises(WriterBusyError, match=f"pid {holder.pid}, to hold it"), only_writer(path, purpose="build"):
            pass
    finally:
        holder.kill()
        holder.communicate()


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.lock"
    holder = hold(path)
    os.kill(holder.pid, signal.SIGKILL)
    with only_writer(path, purpose="build", wait_seconds=60):
        assert path.read_text() == f"pid {os.getpid()}, to build"
    holder.communicate()


def test_who_shares_a_lock_is_told_whether_others_do(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "pull.lock"
    with among_others(path) as first:
        with among_others(path) as second, among_others(path) as third:
            assert (first, second, third) == (True, False, False)
        with among_others(path) as fourth:
            assert not fourth
    with among_others(path) as alone:
        assert alone
