"""A build killed at any moment cuts no answer of the API, and the next build gives the undisturbed figures."""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.command import Deployment, free_port
from tests.end_to_end.served import figures
from tests.end_to_end.test_public_paths import DATA, FILES, WINDOW

KILLS = int(os.environ.get("TOUCHLEDGER_KILLS", "2"))
MORE = "touch_key,occurred_at,person_key,channel,origin,ad_platform,campaign_id\n" + "".join(
    f"late{n},2025-12-31T23:30:00Z,p{n},web,web,meta,zeta\n" for n in range(500)
)


def _prepared(home: Path) -> tuple[Deployment, str]:
    deployment = Deployment(home)
    create = ("profile", "create", "--name", "Killed", "--timezone", "UTC", "--currency", "USD", "--quiet")
    profile = deployment.run_here(*create)
    for dataset, file in FILES.items():
        deployment.run_here("import", dataset, str(DATA / file), "--profile", profile, "--quiet")
    key = deployment.run_here("key", "mint", "--profile", profile, "--quiet")
    deployment.run("build", "--quiet")
    late = home.parent / "late.csv"
    late.write_text(MORE)
    deployment.run_here("import", "touches", str(late), "--profile", profile, "--quiet")
    return deployment, key


class Reader(threading.Thread):
    """Asks the served API once a second, as long as it is let, and keeps every status; 0 is a broken connection."""

    def __init__(self, port: int, key: str) -> None:
        super().__init__(daemon=True)
        self.address = f"http://127.0.0.1:{port}/api/v1/campaigns"
        self.headers = {"Authorization": f"Bearer {key}"}
        self.statuses: list[int] = []
        self.enough = threading.Event()

    def run(self) -> None:
        # a key may ask 60 times a minute
        while not self.enough.wait(1.05):
            self.statuses.append(self.status())

    def status(self) -> int:
        try:
            return httpx.get(self.address, params=WINDOW, headers=self.headers, timeout=10).status_code
        except httpx.HTTPError:
            return 0


@contextmanager
def _reading(deployment: Deployment, key: str) -> Iterator[Reader]:
    """The API as `touchledger serve` runs it, with a reader that never pauses."""
    port = free_port()
    served = deployment.start("serve", "--port", str(port), "--workers", "1", "--quiet")
    reader = Reader(port, key)
    try:
        begun = time.monotonic()
        while reader.status() == 0 and time.monotonic() - begun < 60:
            time.sleep(0.2)
        reader.start()
        yield reader
    finally:
        reader.enough.set()
        if reader.is_alive():
            reader.join(20)
        served.send_signal(signal.SIGINT)
        served.communicate(timeout=30)


@pytest.mark.timeout(300 + 60 * KILLS)
def test_killed_builds_cut_no_answer_and_the_next_one_is_whole(tmp_path: Path) -> None:
    killed, key = _prepared(tmp_path / "home")
    undisturbed = Deployment(tmp_path / "copy" / "home")
    shutil.copytree(tmp_path / "home", undisturbed.home)
    started = time.monotonic()
    undisturbed.run("build", "--quiet")
    seconds = time.monotonic() - started

    before, moments = figures(killed.home), random.Random(11)
    with _reading(killed, key) as reader:
        for _ in range(KILLS):
            build = killed.start("build", "--quiet")
            time.sleep(moments.uniform(0.1, 0.9) * seconds)
            build.send_signal(signal.SIGKILL)
            build.communicate()
            assert figures(killed.home) in (before, figures(undisturbed.home))
        killed.run("build", "--quiet")
    assert figures(killed.home) == figures(undisturbed.home) != before
    assert len(reader.statuses) > KILLS
    assert set(reader.statuses) == {200}
