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

RUN = """
import sys
from dbt_common.clients.jinja import MacroFuzzEnvironment
from jinja2.environment import Environment
from orchestration import dbt_process
try:
    dbt_process._dbt(["debug", "--help"])
finally:
    sys.stderr.write(str(MacroFuzzEnvironment.compile is Environment.compile))
"""


def test_dbt_seldom_searches_for_garbage() -> None:
    asked = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    number, enabled, objects = asked.stdout.split()
    assert number == version("dbt-core")
    assert enabled == "True"
    assert int(objects) >= 10_000


def test_dbt_takes_compiled_templates_from_the_checkout() -> None:
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    assert done.stderr == "False"
