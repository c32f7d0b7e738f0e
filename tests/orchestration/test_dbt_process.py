"""The process that runs dbt."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

ASKED = """
import gc, sys
from orchestration import dbt_process
sys.argv[1:] = ["--version"]
dbt_process.main()
print(gc.isenabled(), gc.get_threshold()[0])
"""


def test_dbt_seldom_searches_for_garbage() -> None:
    asked = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    number, enabled, objects = asked.stdout.split()
    assert number == version("dbt-core")
    assert enabled == "True"
    assert int(objects) >= 10_000
