"""Writers of one SQLite file wait in turn, and a turn never outlives whoever had it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db, turns
from api.turns import Turn
from tests.fixtures.waiting import wait_until

HOLDER = """
import sys
from api.turns import Turn
turn = Turn(sys.argv[1])
assert turn.take()
print("mine", flush=True)
sys.stdin.readline()
turn.pass_on()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Another process that has the turn until it reads a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdout.readline() == "mine\n"
    return process


def waiting(turn: Turn) -> tuple[threading.Thread, threading.Event]:
    """A thread that waits for the turn, and what it sets once it has it."""
    had = threading.Event()

    def wait() -> None:
        assert turn.take()
        had.set()
        turn.pass_on()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread, had


def test_a_thread_has_the_turn_when_the_one_before_passes_it_on(tmp_path: Path) -> None:
    turn = Turn(str(tmp_path / "t"))
    assert turn.take()
    thread, had = waiting(turn)
    assert not had.wait(0.05)
    turn.pass_on()
    thread.join(60)
    assert had.is_set()


@pytest.mark.parametrize("ends", ["passes it on", "is killed"])
def test_a_process_has_the_turn_when_the_other_one_ends_its_own(tmp_path: Path, ends: str) -> None:
    process = holder(tmp_path / "t")
    thread, had = waiting(Turn(str(tmp_path / "t")))
    assert not had.wait(0.05)
    if ends == "is killed":
        process.kill()
    process.communicate("\n")
    thread.join(60)
    assert had.is_set()


def test_who_waits_too_long_is_told_and_sqlite_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.05)
    turn = Turn(str(tmp_path / "t"))
    assert turn.take()
    assert not turn.take()
    turn.pass_on()
    assert turn.take()
    turn.pass_on()


def test_a_process_that_stands_still_in_its_turn_is_waited_for_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # one thread of each process waited for the lock of the file until the holder went on, and with it those behind it
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.05)
    process, turn = holder(tmp_path / "t"), Turn(str(tmp_path / "t"))
    os.kill(process.pid, signal.SIGSTOP)
    given_up: list[bool] = []
    threads = [threading.Thread(target=lambda: given_up.append(not turn.take()), daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    os.kill(process.pid, signal.SIGCONT)
    process.communicate("\n")
    assert given_up == [True, True]
    assert turn.take()
    turn.pass_on()


def interrupt_while_it_takes(thread: int, heard: threading.Event) -> None:
    """Press Ctrl-C once that thread, which is the main one, takes a turn."""
    wait_until(lambda: sys._current_frames()[thread].f_code is Turn._lock.__code__)
    # what comes just before it begins to wait for the lock would be heard after that
    while not heard.wait(0.05):
        os.kill(os.getpid(), signal.SIGINT)


def test_who_is_stopped_while_waiting_keeps_nobody_of_this_process_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a command that Ctrl-C met there waited ten seconds for each thing that it still wrote
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 60)
    elsewhere, turn = Turn(str(tmp_path / "t")), Turn(str(tmp_path / "t"))
    heard = threading.Event()

    def interrupt_once(*_: object) -> None:
        if not heard.is_set():
            heard.set()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt_once)
    stopping = threading.Thread(target=interrupt_while_it_takes, args=[threading.get_ident(), heard])
    try:
        assert elsewhere.take()
        with pytest.raises(KeyboardInterrupt):
            stopping.start()
            turn.take()
        stopping.join()
    finally:
        signal.signal(signal.SIGINT, before)
    elsewhere.pass_on()
    assert turn.take()
    turn.pass_on()


def test_a_forked_process_waits_for_its_own_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.05)
    place = str(tmp_path / "state.db")
    assert turns.turn_at(place).take()
    child = os.fork()
    if child == 0:
        os._exit(0 if turns.turn_at(place).take() else 1)
    turns.turn_at(place).pass_on()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_transaction_that_raises_passes_its_turn_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.05)
    url = f"sqlite:///{tmp_path}/state.db"
    for durable in (True, False):
        with pytest.raises(ZeroDivisionError), db.transaction(url, durable=durable) as session:
            session.execute(sa.text("create table t (a int)"))
            raise ZeroDivisionError
        turn = turns.turn_at(f"{tmp_path}/state.db")
        assert turn.take()
        turn.pass_on()
    db.close_engines(url)
