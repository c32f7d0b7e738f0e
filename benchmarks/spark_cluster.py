"""A real Spark cluster on the loopback: a standalone master and its workers, which end with the block."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from orchestration.orphans import die_with_parent

HOST = "127.0.0.1"
MASTER_PORT, MASTER_PAGE = 27077, 28180
WORKER_PORT, WORKER_PAGE = 27178, 28181
WAIT_SECONDS = 60.0
LOOK_EVERY_SECONDS = 1.0


class Cluster:
    """Its address, and what its pages say."""

    address = f"spark://{HOST}:{MASTER_PORT}"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.most_cores_used: dict[str, int] = {}

    def page(self) -> dict[str, Any]:
        """The master's own page as JSON."""
        return _json(MASTER_PAGE)

    def executors(self) -> dict[str, list[str]]:
        """Per worker, the applications it has run executors of, newest last."""
        found = {}
        for number in range(self.workers):
            page = _json(WORKER_PAGE + number)
            found[page["id"]] = sorted(one["appid"] for one in page["finishedexecutors"] + page["executors"])
        return found

    def look(self, ended: Event) -> None:
        """Note how many cores of each worker are in use, until the event."""
        while not ended.wait(LOOK_EVERY_SECONDS):
            for worker in self.page()["workers"]:
                used = max(worker["coresused"], self.most_cores_used.get(worker["id"], 0))
                self.most_cores_used[worker["id"]] = used


@contextmanager
def running(environment: Path, scratch: Path, *, workers: int = 2, memory: str = "3g") -> Iterator[Cluster]:
    """Start a master and `workers` workers of one core each from that Python environment; all are gone afterwards."""
    (home,) = environment.glob("lib/python*/site-packages/pyspark")
    variables = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1"}
    variables |= {"PYSPARK_PYTHON": str(environment / "bin" / "python"), "SPARK_WORKER_DIR": str(scratch / "work")}
    parent, started = os.getpid(), list[subprocess.Popen[bytes]]()
    scratch.mkdir(parents=True, exist_ok=True)

    def start(name: str, *arguments: str) -> None:
        with (scratch / f"{name}.log").open("wb") as log:
            started.append(
                subprocess.Popen(  # noqa: S603 - the package's own executable, no shell
                    [str(home / "bin" / "spark-class"), *arguments],
                    env=variables,
                    stdout=log,
                    stderr=log,
                    preexec_fn=lambda: die_with_parent(parent),
                )
            )

    cluster, ended = Cluster(workers), Event()
    looking = Thread(target=cluster.look, args=(ended,), daemon=True)
    try:
        kind = "org.apache.spark.deploy"
        ports = ["--port", str(MASTER_PORT), "--webui-port", str(MASTER_PAGE)]
        start("master", f"{kind}.master.Master", "--host", HOST, *ports)
        _wait(lambda: cluster.page() is not None)
        for number in range(workers):
            ports = ["--port", str(WORKER_PORT + number), "--webui-port", str(WORKER_PAGE + number)]
            size = ["--cores", "1", "--memory", memory]
            start(f"worker{number}", f"{kind}.worker.Worker", "--host", HOST, *ports, *size, cluster.address)
        _wait(lambda: cluster.page()["aliveworkers"] == workers)
        looking.start()
        yield cluster
    finally:
        ended.set()
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            process.wait(timeout=WAIT_SECONDS)


def _wait(condition: Any) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            if condition():
                return
        except (OSError, ValueError):
            # nobody listens yet, or it answers before it has a page
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"the cluster did not start in {WAIT_SECONDS:.0f} s")
        time.sleep(0.2)


def _json(port: int) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://{HOST}:{port}/json/", timeout=10) as answer:
        page: dict[str, Any] = json.load(answer)
    return page
