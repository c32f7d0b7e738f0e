"""What the runbook says of the state folder is what the code keeps there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db
from orchestration import durable
from orchestration.lake import Lake
from tests.factories.deployments import application
from tests.fixtures import postgres
from touchledger.settings import REPOSITORY, SPARE_BYTES, Settings

RUNBOOK = (REPOSITORY / "docs" / "runbook.md").read_text()
BACKUPS = RUNBOOK.partition("## Backups")[2].partition("\n## ")[0]
IN_STATE_FOLDER = re.compile(r"""(?:settings|self)\.home / ["']([\w.-]+)["']""")
# kept for good, or until their time is over, and made by no build
NOT_MADE_ANEW = {"secret.key", "inbox", "lake", "logos", "media", "reports", "ranking"}


def named(text: str) -> set[str]:
    return {name.rstrip("/") for name in re.findall(r"`([\w.-]+/?)`", text)}


def test_backups_take_the_database_first_and_then_all_that_no_build_makes_anew() -> None:
    first, second = re.findall(r"^\d\. (.*?)(?=^\d\.|\n\n)", BACKUPS, re.MULTILINE | re.DOTALL)
    assert "vacuum into" in first and "pg_dump" in first
    assert named(second) == NOT_MADE_ANEW


def test_the_copy_of_the_lake_waits_for_what_is_being_landed(tmp_path: Path) -> None:
    # taken in the middle of a landing it had the number of an earlier moment, which the next landing after a restore
    # was given too, or a batch without its file of quarantine
    taken, copied = re.findall(r"^.*(?:flock|cp -a).*\n", BACKUPS, re.MULTILINE)[:2]
    (home := tmp_path / "home").mkdir()
    (backup := tmp_path / "backup").mkdir()
    lake = Lake(home / "lake")
    lake.prepare()
    copy = ["bash", "-c", taken + copied]
    with durable.exclusive(lake.root / ".lock"):
        copying = subprocess.Popen(copy, cwd=home, env={**os.environ, "BACKUP": str(backup)})
        with pytest.raises(subprocess.TimeoutExpired):
            copying.wait(0.5)
        assert list(backup.iterdir()) == []
        durable.write_text(lake.root / "_seq", "7")
    assert copying.wait(60) == 0
    assert (backup / "lake" / "_seq").read_text() == "7"


def asked(commands: str, home: Path, backup: Path, url: str = "") -> int:
    """The exit code of commands of the runbook."""
    path = os.pathsep.join([*map(str, postgres.BINARIES), os.environ["PATH"]])
    told = {"PATH": path, "TOUCHLEDGER_HOME": str(home), "BACKUP": str(backup), "TOUCHLEDGER_DATABASE_URL": url}
    return subprocess.run(["bash", "-c", commands], env={**os.environ, **told}, check=False).returncode


def test_a_database_of_postgres_comes_back_by_the_commands_of_the_page(tmp_path: Path, postgres_server: str) -> None:
    # they made an empty operational.db of SQLite, took a copy of that and ended with 0
    (home := tmp_path / "home").mkdir()
    (backup := tmp_path / "backup").mkdir()
    (taken,) = re.findall(r"```bash\n(.*?)```", BACKUPS, re.DOTALL)
    (given,) = re.findall(r"`(psql .*?)`", RUNBOOK.partition("\n## Restore\n")[2].partition("\n## ")[0])
    urls = [postgres.create_database(postgres_server, f"runbook_{name}") for name in ("lost", "found")]
    with db.engine_for(urls[0]).begin() as session:
        session.execute(sa.text("create table kept as select 'Shop' as name"))
    assert asked(taken, home, backup, urls[0]) == 0
    assert ([*home.iterdir()], [one.name for one in backup.iterdir()]) == ([], ["operational.sql"])
    assert asked(given, home, backup, urls[1]) == 0
    with db.engine_for(urls[1]).begin() as session:
        assert session.scalar(sa.text("select name from kept")) == "Shop"
    for url in urls:
        db.close_engines(url)
        postgres.drop_database(postgres_server, url.rpartition("/")[2])
    # nor is there anything to copy where nobody says which database it is
    (empty := tmp_path / "empty").mkdir()
    assert asked(taken, home, empty) == 1 and [*home.iterdir(), *empty.iterdir()] == []


def test_backups_say_of_everything_in_the_state_folder_whether_to_copy_it() -> None:
    sources = [path for part in ("api", "orchestration", "touchledger") for path in (REPOSITORY / part).rglob("*.py")]
    found = {name for path in sources for name in IN_STATE_FOLDER.findall(path.read_text())}
    assert found >= {"lake", "reports", "warehouse.duckdb"}
    assert (found | {"operational.db-turn", ".dbt"}) - named(BACKUPS) == set()


def test_machines_that_serve_together_are_told_of_every_folder_that_requests_read_or_write() -> None:
    # the page on scaling said to copy one file of a snapshot: such a machine answered with empty figures, found no
    # report of another, and kept what was imported there for itself
    told = named(RUNBOOK.partition("## On more machines")[2].partition("\n## ")[0])
    texts = [path.read_text() for path in (REPOSITORY / "api").rglob("*.py")]
    named_there = {name for text in texts for name in IN_STATE_FOLDER.findall(text)}
    folders = {name for text in texts for name in re.findall(r"settings(?:\(\))?\.(inbox|published)\b", text)}
    assert folders == {"inbox", "published"} and "reports" in named_there
    assert told >= named_there | folders | {"secret.key"}


def test_the_page_tells_what_readyz_looks_at(settings: Settings) -> None:
    # no page for operators said what there is to watch
    watching = RUNBOOK.partition("## Watching it")[2].partition("\n## ")[0]
    checks = application(settings).test_client().get("/readyz").get_json()["checks"]
    assert set(checks) <= named(watching) and f"under {SPARE_BYTES // 2**20} MiB free" in watching
