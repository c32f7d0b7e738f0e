"""`touchledger status`: what is left out is told whole, however much it is."""

from __future__ import annotations

import json
import re
import resource
from pathlib import Path

import duckdb
import pytest
import structlog

from api.db import engine_for, now, transaction
from api.models import Profile
from tests.factories import connected, served
from tests.touchledger.test_cli import CREATE, TOUCHES, run
from touchledger import doctor_files
from touchledger.doctor_files import lake
from touchledger.settings import Settings
from touchledger.state import logging_to_file


def test_what_there_is_none_of_is_said(home: Path) -> None:
    shown = run("status").stdout.splitlines()
    assert shown[1:] == [
        f"{one}: none"
        for one in ("profiles", "connections", "data sets", "files not loaded", "quarantine", "money without a rate")
    ]


def test_money_that_no_rate_converts_is_told_with_its_currency(settings: Settings) -> None:
    # payments were counted and worth 0, and no page or command said why
    day = "2026-11-02"
    at = {"day": day, "occurred_at": "2026-11-02 10:00:00"}
    names = {**at, "profile_key": 1, "conversion_type": "payment_received", "unrated_through": day}
    served.publish(
        settings.published,
        {
            "profiles": [{"profile_key": 1, "profile_id": "p1", "currency": "MXN"}],
            "conversions": [
                {**names, "conversion_key": 1, "conversion_ref": "store:1"},
                {**names, "conversion_key": 2, "conversion_ref": "store:2", "unrated_through": "2026-11-03"},
                {**names, "conversion_key": 3, "conversion_ref": "store:3", "unrated_through": None},
            ],
            "payments": [
                {"profile_key": 1, "payment_ref": f"store:{one}", "currency": "EUR", "value": 1, "refunded": 0}
                for one in (1, 2)
            ],
            "platforms": [{"profile_key": 1, "platform": "meta", "unrated_through": "2026-11-01"}],
        },
    )
    assert json.loads(run("status", "--json").stdout)["money_without_a_rate"] == [
        {
            "profile_id": "p1",
            "money": "delivery of meta",
            "currency": None,
            "amounts": None,
            "newest_day": "2026-11-01",
        },
        {"profile_id": "p1", "money": "payment_received", "currency": "EUR", "amounts": 2, "newest_day": "2026-11-03"},
    ]
    assert re.search("payment_received +EUR +2 +2026-11-03", run("status").stdout)


def test_profiles_are_listed_with_the_ids_that_every_other_command_wants(settings: Settings) -> None:
    # whoever had not noted the id had no command that told it
    first, second = (run(*CREATE, "--name", name).stdout.strip() for name in ("Shop", "Tienda"))
    with transaction(settings.operational_url) as session:
        session.get_one(Profile, second).archived_at = now()
    listed = json.loads(run("status", "--json").stdout)["profiles"]
    assert [one["profile_id"] for one in listed] == [first]
    assert listed == json.loads(run("profile", "list", "--json").stdout)
    assert re.search(rf"{first} +Shop ", run("status").stdout)


def test_a_snapshot_that_the_api_refuses_after_an_upgrade_is_not_said_to_be_served(settings: Settings) -> None:
    snapshot_id = served.publish(settings.published, {})
    assert run("status").stdout.startswith(f"Serving snapshot {snapshot_id}, built ")
    assert json.loads(run("status", "--json").stdout)["snapshot"]["refused"] is None
    with duckdb.connect(settings.published / f"served-{snapshot_id}.duckdb") as earlier:
        earlier.execute("alter table products drop column status")
    lacks = f"served-{snapshot_id}.duckdb lacks products.status"
    first = run("status").stdout.splitlines()[0]
    assert first.startswith(f"An API that starts now does not serve snapshot {snapshot_id}, built ")
    assert f": {lacks}; run `touchledger build`; accepted records" in first
    assert lacks in run("status", "--quiet").stderr
    assert json.loads(run("status", "--json").stdout)["snapshot"]["refused"] == lacks


def test_rows_in_quarantine_are_printed_some_at_a_time_and_are_one_document_to_a_script(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchledger.output.ROWS_AT_ONCE", 2, raising=False)
    profile_id, path = run(*CREATE).stdout.strip(), tmp_path / "t.csv"
    path.write_text(TOUCHES + "".join(f"t{number},yesterday,a1,web,web,true\n" for number in range(2, 7)))
    run("import", "touches", str(path), "--profile", profile_id)
    shown = json.loads(run("status", "--rows", "touches", "--json").stdout)
    assert [one["record"]["touch_key"] for one in shown] == ["t2", "t3", "t4", "t5", "t6"]
    assert run("status", "--rows", "touches").stdout.count("touches in quarantine") == 3
    assert run("status", "--rows", "touches", "--quiet").stdout == "5\n"
    assert json.loads(run("status", "--rows", "orders", "--json").stdout) == []
    assert run("status", "--rows", "orders").stdout == "orders in quarantine: none\n"


def test_names_of_files_and_accounts_that_a_terminal_would_obey_are_spelt_out(
    settings: Settings, tmp_path: Path
) -> None:
    profile_id, path = run(*CREATE).stdout.strip(), tmp_path / "t\x1b[2J.csv"
    path.write_text(TOUCHES + "t2,yesterday,a1,web,web,true\n")
    imported = run("import", "touches", str(path), "--profile", profile_id).stdout
    path.write_text("nothing\x1b[8m\n")
    refused = run("import", "touches", str(path), "--profile", profile_id, code=1)
    name = "Shop\x1b]0;owned\x07\u202e"
    connected.to_meta(settings.operational_url, Profile(id=profile_id), "http://127.0.0.1:9", display_name=name)
    shown = run("status").stdout
    listed = run("status", "--rows", "touches").stdout
    for printed in (imported, refused.stdout, refused.stderr, shown, listed):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", printed)
    assert r"t\x1b[2J.csv" in imported and r"t\x1b[2J.csv" in listed
    assert r"Shop\x1b]0;owned\x07\u202e" in shown


@pytest.mark.parametrize("damage", ["cut", "footer"])
def test_a_damaged_file_of_the_lake_is_named_with_the_way_out(settings: Settings, tmp_path: Path, damage: str) -> None:
    profile_id, path = run(*CREATE).stdout.strip(), tmp_path / "t.csv"
    path.write_text(TOUCHES)
    run("import", "touches", str(path), "--profile", profile_id)
    assert "1 landed files tell what they hold" in run("doctor").stdout
    (landed,) = (settings.lake / "raw" / "touches").glob("*/*/*.parquet")
    content = landed.read_bytes()
    landed.write_bytes({"cut": content[:-9], "footer": content[:-60] + b"\xff" * 52 + content[-8:]}[damage])
    told = f"{landed} is damaged; put it back from the backup (docs/runbook.md)"
    assert run("status", code=1).stderr == f"Error: {told}\n"
    (finding,) = [one for one in json.loads(run("doctor", "--json", code=1).stdout) if one["verdict"] == "fail"]
    assert (finding["subject"], f"{finding['found']}; {finding['way_out']}") == ("lake", told)


@pytest.mark.parametrize("damage", ["cut", "within"])
def test_a_damaged_file_of_the_quarantine_is_named_with_the_way_out(
    settings: Settings, tmp_path: Path, damage: str
) -> None:
    profile_id, path = run(*CREATE).stdout.strip(), tmp_path / "t.csv"
    path.write_text(TOUCHES + "t2,yesterday,a1,web,web,true\n")
    run("import", "touches", str(path), "--profile", profile_id)
    (kept,) = (settings.lake / "quarantine").rglob("*.parquet")
    content = kept.read_bytes()
    kept.write_bytes({"cut": content[:-9], "within": content[:10] + b"\xff" * 50 + content[60:]}[damage])
    told = f"{kept} is damaged; put it back from the backup (docs/runbook.md)"
    for command in (["status", "--rows", "touches"], ["replay"]):
        assert run(*command, code=1).stderr == f"Error: {told}\n"
    if damage == "cut":
        assert run("status", code=1).stderr == f"Error: {told}\n"
        (finding,) = [one for one in json.loads(run("doctor", "--json", code=1).stdout) if one["verdict"] == "fail"]
        assert (finding["subject"], f"{finding['found']}; {finding['way_out']}") == ("lake", told)
        # the doctor named the file that it belongs to, which was readable, and asked for that to be made so
        kept.unlink()
        (gone,) = lake(settings)
        assert (gone.found, gone.way_out) == (f"{kept} is gone", "put it back from the backup (docs/runbook.md)")


def test_an_import_says_of_rows_in_quarantine_why_the_first_is_there_and_what_tells_the_others(
    settings: Settings, tmp_path: Path
) -> None:
    # whoever imported a file of which every row was refused read `loaded`, and not why nothing was
    profile_id, path = run(*CREATE).stdout.strip(), tmp_path / "t.csv"
    path.write_text(TOUCHES + "t2,yesterday,a1,web,web,true\n")
    reason = "occurred_at: not an ISO 8601 timestamp like 2026-01-31T09:30:00+01:00"
    told = f"t.csv: 1 of 2 rows are in quarantine, the first (row 2) for {reason}; `touchledger status --rows touches`"
    assert told in run("import", "touches", str(path), "--profile", profile_id).stdout
    quiet = run("import", "touches", str(path), "--profile", profile_id, "--json")
    assert told in quiet.stderr
    (done,) = json.loads(quiet.stdout)
    assert done["errors"] == [{"row": 2, "field": "occurred_at", "reason": reason.partition(": ")[2]}]


@pytest.mark.parametrize("said", [["--json"], []])
def test_a_disk_without_a_free_byte_is_told_beside_what_there_is(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    # it ended with "No space left on device": it began by writing Dagster's settings anew, as they were
    run(*CREATE)
    for bound in ("SPARE_BYTES", "ENOUGH_BYTES"):
        monkeypatch.setattr(doctor_files, bound, 2**63)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # as where an API runs: SQLite's log and its index are there
    with engine_for(settings.operational_url).connect():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            with logging_to_file(settings):
                structlog.get_logger("test").warning("what is lost")
            shown = run("status", *said)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "Shop" in shown.stdout
    assert re.search(r"disk: .+ GiB free - make room", shown.stderr if said else shown.stdout)
