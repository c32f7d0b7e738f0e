"""How the processes of the commands end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from touchledger.entry import KEPT_WHEN_FREED

COMMAND = """
import atexit, sys
from touchledger.entry import _ending_at_once

class Thing:
    def __del__(self):
        print("taken apart", flush=True)

thing = Thing()
with _ending_at_once():
    atexit.register(print, "closed")
    print("done")
    {end}
"""


def ended(end: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", COMMAND.format(end=end)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("end", "code", "told"),
    [
        ("pass", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(0)", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no such thing')", 1, "no such thing\n"),
    ],
)
def test_a_process_ends_with_its_code_once_all_is_told_and_closed(end: str, code: int, told: str) -> None:
    done = ended(end)
    assert (done.returncode, done.stdout, done.stderr) == (code, "done\nclosed\n", told)


def test_an_exception_is_told_as_ever() -> None:
    done = ended("raise OSError('the disk is gone')")
    assert (done.returncode, done.stdout) == (1, "done\nclosed\ntaken apart\n")
    assert done.stderr.endswith("OSError: the disk is gone\n")


PRESSED = """
import os, signal, sys
from touchledger import entry

class Importing:
    def find_spec(self, name, *_):
        if name == "touchledger.cli":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Importing())
entry.touchledger()
"""


def test_ctrl_c_while_modules_are_imported_ends_without_a_word() -> None:
    done = subprocess.run([sys.executable, "-c", PRESSED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


PRESSED_AGAIN = """
import atexit, os, signal
from touchledger.entry import _ending_at_once
from touchledger.serving import stop_on_signals

def close():
    for one in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), one)
    print("closed")

with _ending_at_once():
    atexit.register(close)
    stop_on_signals()
    print("done")
"""


def test_ctrl_c_that_is_pressed_again_cuts_off_nothing_that_is_closed_at_the_end() -> None:
    # `up` said that it had ended, and a traceback followed of the database that it was closing
    done = subprocess.run([sys.executable, "-c", PRESSED_AGAIN], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\nclosed\n", "")


def test_what_nobody_reads_any_more_is_told_by_the_code() -> None:
    # what is told then waits for the end of the process
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", COMMAND.format(end="pass")]
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, env=environment, text=True, check=False)
    finally:
        os.close(writing)
    assert done.returncode == 120
    # as Python before 3.13 tells it, and since
    told = ("Exception ignored in: <_io.TextIOWrapper name='<stdout>'", "Exception ignored on flushing sys.stdout")
    assert done.stderr.startswith(told)


def test_a_command_leaves_its_database_in_one_file(home: Path) -> None:
    command = Path(sys.executable).parent / "touchledger"
    subprocess.run([command, "status"], capture_output=True, check=True)
    assert [path.name for path in home.glob("operational.db*")] == ["operational.db", "operational.db-turn"]


DBT = """
import os, sys
from touchledger.entry import touchledger_dbt

class Loading:
    def find_spec(self, name, *_):
        if name == "_duckdb":
            print(os.environ.get("DUCKDB_JE_MALLOC_CONF"))

sys.meta_path.insert(0, Loading())
sys.argv = ["touchledger-dbt", "--version"]
touchledger_dbt()
"""


@pytest.mark.parametrize("given", [None, "dirty_decay_ms:1000"])
def test_dbts_process_tells_duckdbs_allocator_how_long_it_keeps_memory(given: str | None) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DUCKDB_JE_MALLOC_CONF"}
    if given:
        environment["DUCKDB_JE_MALLOC_CONF"] = given
    done = subprocess.run([sys.executable, "-c", DBT], capture_output=True, text=True, check=True, env=environment)
    # the allocator complains there of what it does not know
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == (given or KEPT_WHEN_FREED)


CLOSED = """
import os, sys
os.closerange(0, 2)
sys.stdin = sys.stdout = None
from touchledger.entry import _ending_at_once, stand_in
with _ending_at_once():
    stand_in()
    print("a result")
    # the next file that is opened is none of the three
    told = [os.fstat(number).st_rdev == os.stat(os.devnull).st_rdev for number in (0, 1)]
    print(told, os.get_inheritable(1), os.open(os.devnull, os.O_RDONLY) > 2, sys.stdin.read() == "", file=sys.stderr)
"""


def test_what_is_told_goes_nowhere_where_standard_output_is_closed() -> None:
    # what a command opened next became its standard output, and each command ended in a traceback
    done = subprocess.run([sys.executable, "-c", CLOSED], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "[True, True] True True True\n")
