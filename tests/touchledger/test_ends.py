"""What is in a command's way is told in one line."""

from __future__ import annotations

import subprocess
import sys

STOPPED = """
import os, signal, sys
import click
from touchledger.ends import Commands
signal.signal(signal.SIGINT, signal.default_int_handler)

@click.group(cls=Commands)
def main(): ...

@main.command()
def wait():
    os.kill(os.getpid(), signal.SIGINT)

sys.argv[1:] = ["wait"]
main()
"""


def test_ctrl_c_ends_a_command_in_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped; what was served before still is\n")
