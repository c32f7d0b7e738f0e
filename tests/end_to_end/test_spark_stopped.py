"""A build on Spark that is stopped leaves nothing of what it had built: it is people."""

from __future__ import annotations

import signal
import socket
import sys
from pathlib import Path

from tests.end_to_end.command import Deployment
from tests.fixtures.java import java_that_says
from tests.fixtures.waiting import wait_until

# stands where Spark would: its Java learns that nobody is there any more, and takes a while to end
SPARK = """#!{python}
import os, signal, sys, time
from pathlib import Path
sys.stdin.read()
Path("{run}", "warehouse").mkdir()
told, held = os.pipe()
if os.fork():
    os.close(told)
    Path("{began}").touch()
    time.sleep(600)
os.close(held)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.read(told, 1)
time.sleep(1)
Path("{run}", "warehouse").mkdir(parents=True, exist_ok=True)
Path("{run}", "warehouse", "part-0").write_text("ann@example.com")
Path("{ended}").touch()
"""


def test_a_build_on_spark_that_is_stopped_leaves_nothing_of_it(tmp_path: Path) -> None:
    # the lake's files, staging and people stayed until the next build, whenever that was
    home, python = tmp_path / "state", tmp_path / "environment" / "bin" / "python"
    began, ended = tmp_path / "began", tmp_path / "ended"
    python.parent.mkdir(parents=True)
    python.write_text(SPARK.format(python=sys.executable, run=home / "spark", began=began, ended=ended))
    python.chmod(0o755)
    java = java_that_says(tmp_path / "java", 'openjdk version "17.0.15" 2025-04-15')
    with socket.create_server(("127.0.0.1", 0)) as master:
        address = f"spark://127.0.0.1:{master.getsockname()[1]}"
        overrides = {"ENGINE": "spark", "SPARK_MASTER": address, "SPARK_ENVIRONMENT": str(python.parent.parent)}
        build = Deployment(home, overrides, {"JAVA_HOME": str(java)}).start("build", "--quiet")
        wait_until(lambda: began.exists() or build.poll() is not None)
        assert (home / "spark" / "lake").exists(), build.communicate()
        build.send_signal(signal.SIGTERM)
        out, err = build.communicate()
    wait_until(ended.exists)
    assert not (home / "spark").exists(), (out, err)
    assert "stopped" in err
