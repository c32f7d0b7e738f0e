"""The doctor's looks at what lies in the state folder."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from pydantic import SecretStr

from api.migrate import upgrade
from tests.factories import accounts, exports, served
from touchledger.doctor import database
from touchledger.doctor_files import signing_key, snapshot, warehouse, within
from touchledger.lost_key import require_own_key
from touchledger.own_key import LostKeyError
from touchledger.settings import Settings, load


@pytest.mark.parametrize("damage", ["cut off", "changed within"])
def test_a_file_of_names_that_is_damaged_is_told(settings: Settings, damage: str) -> None:
    # its rows were only counted, which no block of them is read for: all was well, and each list of people was 503
    drawn = random.Random(7)
    people = [{"profile_key": 1, "person_key": n, "email": f"{drawn.randbytes(40).hex()}@b.co"} for n in range(9_000)]
    snapshot_id = served.publish(settings.published, {"person_names": people})
    assert [one.verdict for one in snapshot(settings)] == ["ok"]
    path = settings.published / f"names-{snapshot_id}.duckdb"
    whole = path.read_bytes()
    half = len(whole) // 2
    path.chmod(0o600)
    path.write_bytes(whole[:half] + (b"" if damage == "cut off" else bytes(64) + whole[half + 64 :]))
    (finding,) = snapshot(settings)
    assert finding.verdict == "fail"
    assert "`touchledger build`" in finding.way_out


def test_a_folder_of_the_state_folder_whose_disk_is_not_mounted_is_told(settings: Settings, tmp_path: Path) -> None:
    # commands said "File exists; the doctor says more", and the doctor that all is well
    assert list(within(settings)) == []
    settings.published.symlink_to(tmp_path / "not mounted")
    (finding,) = within(settings)
    assert (finding.verdict, finding.found) == ("fail", f"{settings.published} is a link that leads nowhere")
    assert "mount" in finding.way_out


def test_a_pointer_that_cannot_be_read_is_no_matter_of_a_build(settings: Settings) -> None:
    # a build was advised, which fails over it too
    served.publish(settings.published, {"person_names": []})
    pointer = settings.published / "current.json"
    pointer.unlink()
    # as one of somebody else's, which nobody can take from who runs these tests
    pointer.mkdir()
    (finding,) = snapshot(settings)
    assert (finding.verdict, finding.found) == ("fail", f"{pointer}: Is a directory")
    assert "build" not in finding.way_out


def test_a_lock_of_the_warehouse_that_cannot_be_read_is_told_by_its_name(settings: Settings) -> None:
    # the warehouse was called unreadable, which it was not
    settings.warehouse.write_bytes(bytes(8) + b"DUCK")
    # as one of somebody else's
    (settings.home / "locks").symlink_to("locks")
    (finding,) = warehouse(settings)
    assert (finding.verdict, finding.found.partition(": ")[0]) == ("fail", str(settings.home / "locks/warehouse.lock"))


@pytest.mark.parametrize("name", ["published", "logs/commands.log", "dagster/dagster.yaml"])
def test_what_another_user_made_in_the_state_folder_is_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # as a command under sudo does: the next ones said "Permission denied; the doctor says more", which found all well
    (settings.home / "logs").mkdir(exist_ok=True)
    (settings.home / "dagster").mkdir(exist_ok=True)
    closed = settings.home / name
    closed.touch()
    # of somebody else's that lies there no command makes use
    other = settings.home / "lost+found"
    other.mkdir()
    # who runs the tests may be one for whom nothing is closed
    monkeypatch.setattr(os, "access", lambda path, _: path not in {closed, other})
    (finding,) = within(settings)
    assert (finding.verdict, finding.found) == ("fail", f"{closed} may not be read and written")


def test_tokens_of_accounts_that_no_key_opens_are_told(settings: Settings) -> None:
    # of a deployment that was restored without its TOUCHLEDGER_TOKEN_KEY all was well, until its next pull failed
    exports.connection(settings.operational_url, accounts.profile(settings.operational_url))
    before, newer = load().own_token_keys()[0].decode(), settings.model_copy(update={"token_key": SecretStr("newer")})
    own = settings.home / "secret.key"
    own.unlink(missing_ok=True)
    # and beside a newer one the key of the state folder, which opened them until then, was not missed
    with pytest.raises(LostKeyError, match="tokens of accounts"):
        require_own_key(newer)
    own.write_text("its own")
    (finding,) = signing_key(newer)
    assert (finding.verdict, finding.found[:2]) == ("fail", "1 ")
    assert "TOUCHLEDGER_TOKEN_KEY" in finding.way_out
    assert list(signing_key(settings.model_copy(update={"token_key": SecretStr(f"newer, {before}")}))) == []


def test_an_empty_database_beside_rows_of_the_lake_is_told(home: Path) -> None:
    # such as one of Postgres before its dump is restored: `touchledger status` was to make tables in it
    settings = Settings(home=home)
    landed = settings.lake / "raw" / "touches" / "p" / "app" / "b.parquet"
    landed.parent.mkdir(parents=True)
    landed.write_bytes(b"")
    (home / "operational.db").touch()
    (finding,) = database(settings)
    assert (finding.verdict, finding.way_out) == ("fail", "put its backup in its place, before all else")
    upgrade(settings.operational_url)
    assert [one.verdict for one in database(settings)] == ["ok"]
