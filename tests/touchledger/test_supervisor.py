"""Processes are started together and ended together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import UserDict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.fixtures.waiting import wait_until
from touchledger.supervisor import NotStartedError, PortTakenError, Supervisor, require_free

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
LARGE = "import time; b = bytearray(b'1') * 500_000_000; print(1, flush=True); time.sleep(300)"
child = subprocess.Popen([sys.executable, "-c", LARGE], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(300)
"""
SERVER = """
import http.server, sys
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""
PARENT = """
import sys, time
from pathlib import Path
from touchledger.supervisor import Supervisor
with Supervisor(Path(sys.argv[1])) as supervisor:
    child = supervisor.start("c", [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(300)"])
    print(child.process.pid, flush=True)
    time.sleep(300)
"""


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def wait_for_line(log: Path) -> str:
    wait_until(lambda: log.exists() and log.read_text().endswith("\n"))
    return log.read_text()


def test_a_taken_port_is_refused_with_the_setting_to_change(taken_port: int) -> None:
    with pytest.raises(PortTakenError, match=f"port {taken_port} .* set TOUCHLEDGER_API_PORT=<port>"):
        require_free("127.0.0.1", taken_port, "TOUCHLEDGER_API_PORT")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1", "2001:db8::1", "a" * 64, "0x10"])
def test_a_host_that_is_none_of_this_machine_is_refused_by_its_own_setting(host: str) -> None:
    with pytest.raises(PortTakenError, match=r"^TOUCHLEDGER_API_HOST: ") as told:
        require_free(host, free_port(), "TOUCHLEDGER_API_PORT", host_setting="TOUCHLEDGER_API_HOST")
    assert "API_PORT" not in str(told.value)


def test_a_free_port_is_free() -> None:
    require_free("127.0.0.1", free_port(), "TOUCHLEDGER_API_PORT")


def test_a_process_that_answers_is_waited_for_and_ended(tmp_path: Path) -> None:
    port = free_port()
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.start("web", [sys.executable, "-c", SERVER, str(port)])
        supervisor.wait_until_answers(child, f"http://127.0.0.1:{port}/", within=60)
        assert supervisor.dismiss_ended() == []
    assert not is_running(child.process.pid)


def test_a_process_that_ends_early_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.start("web", [sys.executable, "-c", "raise SystemExit('no such table')"])
        with pytest.raises(NotStartedError, match=r"web ended with code 1:\nno such table"):
            supervisor.wait_until_answers(child, "http://127.0.0.1:1/", within=60)
        assert supervisor.dismiss_ended(but=child) == []
        assert supervisor.dismiss_ended() == [child]
        assert supervisor.dismiss_ended() == []


def test_a_stubborn_process_is_killed_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("touchledger.supervisor.PATIENCE_SECONDS", 0.5)
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.start("stubborn", [sys.executable, "-c", STUBBORN])
        grandchild = int(wait_for_line(child.log))
    assert child.process.returncode == -signal.SIGKILL
    # as large as it is: the system takes its time to clear it away, and its files are closed last
    assert not is_running(grandchild)


def test_a_process_that_was_just_asked_whether_it_runs_is_ended_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchledger.supervisor.PATIENCE_SECONDS", 200.0)
    # Ctrl-C between the closing of this lock and the block that opens it again: in 3 of 20 it came there
    with Supervisor(tmp_path) as supervisor:
        children = [supervisor.start(name, [sys.executable, "-c", "import time; time.sleep(300)"]) for name in "ab"]
        lock = children[0].process._waitpid_lock  # type: ignore[attr-defined]
        lock.acquire()
        asked = time.monotonic()
    lock.release()
    assert time.monotonic() - asked < 100
    assert [child.process.poll() is None or is_running(child.process.pid) for child in children] == [False, False]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_leaves_no_process_that_the_first_was_ending(
    tmp_path: Path, sign: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchledger.supervisor.PATIENCE_SECONDS", 200.0)
    # it ended the wait for what goes in good order: that ran on, and the command said that nothing did
    # asked to end, it has the signal come to whoever asked, and takes its time
    program = f"""
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: (os.kill(os.getppid(), {sign.value}), time.sleep(0.6), exit(7)))
print(1, flush=True)
time.sleep(300)
"""

    def cut(number: int, _frame: FrameType | None) -> None:
        raise AssertionError(signal.Signals(number))

    before = signal.signal(sign, cut)
    try:
        with Supervisor(tmp_path) as supervisor:
            child = supervisor.start("slow", [sys.executable, "-c", program])
            wait_for_line(child.log)
        assert signal.getsignal(sign) is cut
    finally:
        signal.signal(sign, before)
    assert child.process.returncode == 7


class Signalling(UserDict[str, str]):
    """An environment that is read just when Ctrl-C comes."""

    def keys(self) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return super().keys()


def test_ctrl_c_while_a_process_starts_is_heard_once_that_can_be_ended(tmp_path: Path) -> None:
    # in its midst, the process was nobody's to wait for, and told of the exception itself where it was forked just then
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Supervisor(tmp_path) as supervisor:
            with pytest.raises(KeyboardInterrupt):
                supervisor.start(
                    "a", [sys.executable, "-c", "import time; time.sleep(300)"], environment=Signalling(A="b")
                )
            (child,) = supervisor.children
    finally:
        signal.signal(signal.SIGINT, before)
    assert child.process.returncode == -signal.SIGTERM


# what a process may have been handed down by whoever started it
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
BLOCKED = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})"


@pytest.mark.parametrize("handed_down", ["", DEAF, BLOCKED])
def test_processes_end_when_the_supervising_one_is_killed(tmp_path: Path, handed_down: str) -> None:
    program = handed_down + PARENT
    parent = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    wait_for_line(tmp_path / "c.log")
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    wait_until(lambda: not is_running(child))
