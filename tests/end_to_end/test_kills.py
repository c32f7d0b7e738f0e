"""A build killed at any moment leaves the old figures served, and the next build gives the undisturbed ones."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.end_to_end.command import Deployment
from tests.end_to_end.served import client_of, figures
from tests.end_to_end.test_public_paths import DATA, FILES, WINDOW

KILLS = int(os.environ.get("TOUCHLEDGER_KILLS", "2"))
MORE = "touch_key,occurred_at,person_key,channel,origin,ad_platform,campaign_id\n" + "".join(
    f"late{n},2025-12-31T23:30:00Z,p{n},web,web,meta,zeta\n" for n in range(500)
)


def _prepared(home: Path) -> tuple[Deployment, str]:
    deployment = Deployment(home)
    create = ("profile", "create", "--name", "Killed", "--timezone", "UTC", "--currency", "USD", "--quiet")
    profile = deployment.run(*create)
    for dataset, file in FILES.items():
        deployment.run("import", dataset, str(DATA / file), "--profile", profile, "--quiet")
    key = deployment.run("key", "mint", "--profile", profile, "--quiet")
    deployment.run("build", "--quiet")
    late = home.parent / "late.csv"
    late.write_text(MORE)
    deployment.run("import", "touches", str(late), "--profile", profile, "--quiet")
    return deployment, key


def _answers(client: FlaskClient, key: str) -> bool:
    headers = {"Authorization": f"Bearer {key}"}
    return client.get("/api/v1/campaigns", query_string=WINDOW, headers=headers).status_code in (200, 429)


@pytest.mark.timeout(300 + 60 * KILLS)
def test_killed_builds_cut_nothing_and_the_next_one_is_whole(tmp_path: Path) -> None:
    killed, key = _prepared(tmp_path / "home")
    undisturbed = Deployment(tmp_path / "copy" / "home")
    shutil.copytree(tmp_path / "home", undisturbed.home)
    started = time.monotonic()
    undisturbed.run("build", "--quiet")
    seconds = time.monotonic() - started

    before, client, moments = figures(killed.home), client_of(killed.home), random.Random(11)
    for _ in range(KILLS):
        build = killed.start("build", "--quiet")
        time.sleep(moments.uniform(0.1, 0.9) * seconds)
        assert _answers(client, key)
        build.send_signal(signal.SIGKILL)
        build.communicate()
        assert figures(killed.home) in (before, figures(undisturbed.home))
        assert _answers(client, key)
    killed.run("build", "--quiet")
    assert figures(killed.home) == figures(undisturbed.home) != before
    assert _answers(client, key)
