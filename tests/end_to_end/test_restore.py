"""A backup as the runbook takes it, restored as the runbook says: nothing that was accepted is missing."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from tests.end_to_end.command import Deployment
from tests.end_to_end.served import rows_of
from tests.end_to_end.test_bad_files import ACCOUNTS, CAMPAIGNS, DELIVERY, GOOD_DAY
from touchledger.settings import REPOSITORY, Settings

RUNBOOK = (REPOSITORY / "docs" / "runbook.md").read_text()
# the machine may lack SQLite's own command
SQLITE = f"""sqlite3() {{
if flock -n lake/.lock true; then echo "an erasure may begin between this copy and that of the lake" >&2; return 1; fi
"{sys.executable}" -c '
import sqlite3, sys
sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])' "$@"; }}
"""


def printed(section: str) -> str:
    """The commands of one section of the runbook."""
    (block,) = re.findall(r"```bash\n(.*?)```", RUNBOOK.partition(f"\n## {section}\n")[2].partition("\n## ")[0], re.S)
    return str(block)


def shell(commands: str, home: Path, backup: Path) -> None:
    environment = {**os.environ, "TOUCHLEDGER_HOME": str(home), "BACKUP": str(backup)}
    subprocess.run(["bash", "-c", SQLITE + commands], env=environment, check=True)


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """A deployment with one file imported, one dropped into the inbox, and no build."""
    folder = tmp_path_factory.mktemp("lost")
    deployment = Deployment(folder / "home")
    create = ("profile", "create", "--name", "Shop", "--timezone", "UTC", "--currency", "USD", "--quiet")
    profile = deployment.run_here(*create)
    for dataset, text in (("ad_accounts", ACCOUNTS), ("ad_delivery", DELIVERY + GOOD_DAY)):
        path = folder / f"{dataset}.csv"
        path.write_text(text)
        deployment.run_here("import", dataset, str(path), "--profile", profile)
    dropped = deployment.home / "inbox" / profile / "campaigns" / "dropped.csv"
    dropped.parent.mkdir(parents=True)
    dropped.write_text(CAMPAIGNS)
    # a key that is first wanted after a restore would be another one
    Settings(home=deployment.home).signing_key()
    return deployment


def test_what_was_backed_up_is_served_from_an_empty_folder_by_the_printed_commands(lost: Deployment) -> None:
    backup, home = lost.home.parent / "backup", lost.home.parent / "restored"
    backup.mkdir()
    shell(printed("Backups"), lost.home, backup)
    assert {path.name for path in backup.iterdir()} == {"operational.db", "secret.key", "inbox", "lake"}
    commands = printed("Restore").splitlines()
    own = [line for line in commands if line.startswith("touchledger ")]
    assert own == ["touchledger doctor", "touchledger status", "touchledger build"]
    shell("\n".join(line for line in commands if line not in own), home, backup)
    restored = Deployment(home)
    assert Settings(home=home).signing_key() == Settings(home=lost.home).signing_key()
    assert restored.run_here("doctor", "--quiet") == "ok"
    told = json.loads(restored.run_here("status", "--json"))
    assert {one["dataset"]: one["rows"] for one in told["data_sets"]} == {"ad_accounts": 1, "ad_delivery": 1}
    assert [one["reason"] for one in told["files_not_loaded"]] == ["waits for the next build"]
    restored.run_here("build", "--quiet")
    spent = "select day, spend_minor from delivery_daily where level = 'campaign'"
    assert rows_of(home, spent) == [(date(2026, 3, 1), 1234)]
    assert json.loads(restored.run_here("status", "--json"))["files_not_loaded"] == []


@pytest.mark.parametrize("lacking", ["operational.db", "lake", "inbox"])
def test_what_is_no_whole_backup_has_no_database(tmp_path: Path, lacking: str) -> None:
    # of a copy that was killed, or made by a timer on a disk that became full, nothing told that it lacked something
    home, backup = tmp_path / "home", tmp_path / "backup"
    backup.mkdir()
    for name in ("lake", "inbox"):
        (home / name).mkdir(parents=True)
        (home / name / "file").write_bytes(b"x" * (65536 if name == lacking else 1))
    (home / "lake" / ".lock").touch()
    pages = 16 if lacking == "operational.db" else 1
    with sqlite3.connect(home / "operational.db") as database:
        database.execute(f"create table t as select zeroblob({pages * 4096}) as x")
    with pytest.raises(subprocess.CalledProcessError):
        shell(f"ulimit -f 32\n{printed('Backups')}", home, backup)
    assert not (backup / "operational.db").exists()
    # another one into the same folder would take over what that had
    with pytest.raises(subprocess.CalledProcessError):
        shell(printed("Backups"), home, backup)
    assert not (backup / "operational.db").exists()
