"""Commands speak to people, and to scripts with --quiet and --json."""

from __future__ import annotations

import gc
import json
import re
import socket
from pathlib import Path

import click
import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from api.credentials import PATTERN
from api.db import now, transaction
from api.models import ApiKey, AuditEntry, Profile, Subscription, Workspace
from api.scopes import DEFAULT_SCOPES
from tests.factories import connected
from tests.fixtures.sandbox import RunningSandbox
from touchledger.cli import main
from touchledger.settings import Settings, load

CREATE = ["profile", "create", "--name", "Shop", "--timezone", "Europe/Berlin", "--currency", "eur", "--quiet"]
TOUCHES = "touch_key,occurred_at,anonymous_id,channel,origin,is_direct\nt1,2026-03-01T12:00:00Z,a1,web,web,true\n"


def run(*arguments: str, code: int = 0) -> Result:
    # what runs the tests may have told them how wide its terminal is
    result = CliRunner(env={"COLUMNS": None}).invoke(main, arguments)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def profile_id(settings: Settings) -> str:
    return run(*CREATE).stdout.strip()


def test_a_command_seldom_searches_for_garbage(settings: Settings) -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)
        run(*CREATE)
        assert gc.isenabled()
        assert gc.get_threshold()[0] >= 10_000
    finally:
        gc.set_threshold(*before)


def test_every_command_has_quiet_and_json() -> None:
    for name, command in main.commands.items():
        inside = command.commands if isinstance(command, click.Group) else [""]
        for arguments in ([name, *([one] if one else [])] for one in inside):
            shown = run(*arguments, "--help").output
            assert "--quiet" in shown, arguments
            assert "--json" in shown, arguments


def test_quiet_profile_create_prints_the_id_and_nothing_else(settings: Settings, profile_id: str) -> None:
    assert re.fullmatch(r"[0-9a-f-]{36}", profile_id)
    with transaction(settings.operational_url) as session:
        profile = session.get_one(Profile, profile_id)
    assert (profile.timezone, profile.reporting_currency) == ("Europe/Berlin", "EUR")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"--timezone": "Europe/Berln"}, "did you mean Europe/Berlin"),
        ({"--currency": "XXQ"}, "not an ISO 4217 currency"),
    ],
)
def test_a_profile_of_no_zone_or_currency_is_refused(home: Path, changed: dict[str, str], words: str) -> None:
    arguments = list(CREATE)
    for option, value in changed.items():
        arguments[arguments.index(option) + 1] = value
    assert words in run(*arguments, code=2).stderr


@pytest.mark.parametrize("name", ["", "  ", "x" * 121])
def test_a_profile_without_a_name_that_can_be_stored_is_refused(home: Path, name: str) -> None:
    assert "1 to 120 characters" in run(*CREATE, "--name", name, code=2).stderr


def test_brackets_in_a_name_are_printed_and_not_obeyed(settings: Settings, tmp_path: Path) -> None:
    created = run(*CREATE[:-1], "--name", "Acme [/uk] [bold]").stdout
    assert created.startswith("Profile Acme [/uk] [bold] was created: ")
    profile_id = created.split()[-1]
    with transaction(settings.operational_url) as session:
        workspace = session.get_one(Workspace, session.get_one(Profile, profile_id).workspace_id)
        workspace.name = "Shops [/x]"
    assert "Workspace Shops [/x] is on growth." in run("workspace", "plan", workspace.id, "growth").stdout
    path = tmp_path / "touches [bold].csv"
    path.write_text(TOUCHES)
    assert "Read touches [bold].csv" in run("import", "touches", str(path), "--profile", profile_id).stdout


def test_a_minted_key_is_printed_once_and_stored_as_a_digest(settings: Settings, profile_id: str) -> None:
    secret = run("key", "mint", "--profile", profile_id, "--quiet").stdout.strip()
    assert PATTERN.fullmatch(secret)
    with transaction(settings.operational_url) as session:
        stored = session.scalars(sa.select(ApiKey)).one()
    assert sorted(stored.scopes) == sorted(DEFAULT_SCOPES)
    assert secret not in (settings.home / "operational.db").read_bytes().decode("latin-1")


def test_a_key_has_the_scopes_asked_for(settings: Settings, profile_id: str) -> None:
    arguments = ("--scope", "campaigns:read", "--scope", "analytics:read", "--json")
    shown = json.loads(run("key", "mint", "--profile", profile_id, *arguments).stdout)
    assert shown["profile_id"] == profile_id
    with transaction(settings.operational_url) as session:
        assert sorted(session.scalars(sa.select(ApiKey)).one().scopes) == ["analytics:read", "campaigns:read"]


def test_the_operator_gives_a_plan_and_takes_it_back(settings: Settings, profile_id: str) -> None:
    with transaction(settings.operational_url) as session:
        workspace_id = session.get_one(Profile, profile_id).workspace_id
    given = json.loads(run("workspace", "plan", workspace_id, "enterprise", "--json").stdout)
    assert given == {
        "workspace_id": workspace_id, "name": "Touchledger", "plan": "enterprise", "status": "active",
    }  # fmt: skip
    with transaction(settings.operational_url) as session:
        assert session.get_one(Workspace, workspace_id).plan == "enterprise"
        (audited,) = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "plan.granted"))
        assert (audited.category, audited.details["before"]["plan"]) == ("billing", "starter")
    assert run("workspace", "plan", workspace_id, "starter", "--quiet").stdout == "starter\n"


def test_no_plan_is_given_to_nobody_or_over_what_is_paid(settings: Settings, profile_id: str) -> None:
    assert "there is no workspace" in run("workspace", "plan", "nobody", "growth", code=2).stderr
    assert "is not one of" in run("workspace", "plan", "nobody", "gold", code=2).stderr
    with transaction(settings.operational_url) as session:
        workspace_id = session.get_one(Profile, profile_id).workspace_id
        session.add(Subscription(workspace_id=workspace_id, billing="card", status="active", paid_plan="growth"))
    for plan in ("starter", "growth"):
        assert "pays for growth" in run("workspace", "plan", workspace_id, plan, code=1).stderr
    assert run("workspace", "plan", workspace_id, "agency", "--quiet").stdout == "agency\n"


def test_an_unknown_scope_and_an_unknown_profile_are_refused(settings: Settings, profile_id: str) -> None:
    assert "known are" in run("key", "mint", "--profile", profile_id, "--scope", "all", code=2).stderr
    told = run("key", "mint", "--profile", "nobody", code=2).stderr
    assert "there is no profile 'nobody'; `touchledger profile list`" in told


def test_an_archived_profile_gets_no_key(settings: Settings, profile_id: str) -> None:
    with transaction(settings.operational_url) as session:
        session.get_one(Profile, profile_id).archived_at = now()
    assert "there is no profile" in run("key", "mint", "--profile", profile_id, code=2).stderr
    with transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(ApiKey)).all() == []


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_a_sync_names_the_connection_that_failed(
    settings: Settings, sandbox: RunningSandbox, profile_id: str, option: str
) -> None:
    profile = Profile(id=profile_id)
    made = connected.to_meta(settings.operational_url, profile, sandbox.url, token="dead", display_name="Shop, Spain")
    # by its id alone, which `touchledger status` does not show
    assert f"Shop, Spain (meta {made.id}) was not pulled: connection_revoked" in run("sync", option, code=1).stderr


def test_an_import_counts_and_the_second_is_the_first(settings: Settings, profile_id: str, tmp_path: Path) -> None:
    path = tmp_path / "touches.csv"
    path.write_text(TOUCHES)
    for _ in range(2):
        done = json.loads(run("import", "touches", str(path), "--profile", profile_id, "--json").stdout)
        assert [(one["rows_in"], one["rows_loaded"], one["rows_quarantined"]) for one in done] == [(1, 1, 0)]
    status = json.loads(run("status", "--json").stdout)
    assert [(one["rows"], one["batches"]) for one in status["data_sets"] if one["dataset"] == "touches"] == [(1, 1)]


def test_a_rejected_file_is_named_once(settings: Settings, profile_id: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("touch_key\nt1\n")
    told = run("import", "touches", str(path), "--profile", profile_id, code=1)
    assert told.stderr.startswith("Error: bad.csv: required columns are missing: ")
    # a mark of success beside "Import" said that it was
    assert "ok Read bad.csv" in told.stdout and "rejected" in told.stdout


def test_an_unknown_data_set_is_named_with_the_nearest(settings: Settings, profile_id: str, tmp_path: Path) -> None:
    path = tmp_path / "touches.csv"
    path.write_text(TOUCHES)
    assert "did you mean 'touches'" in run("import", "touchs", str(path), "--profile", profile_id, code=1).stderr


def test_quarantine_shows_in_status_and_replay_leaves_what_is_still_wrong(
    settings: Settings, profile_id: str, tmp_path: Path
) -> None:
    path = tmp_path / "touches.csv"
    path.write_text(TOUCHES + "t2,yesterday,a1,web,web,true\n")
    run("import", "touches", str(path), "--profile", profile_id)
    (reason,) = json.loads(run("status", "--json").stdout)["quarantine"]
    assert (reason["dataset"], reason["field"], reason["rows"]) == ("touches", "occurred_at", 1)
    assert json.loads(run("replay", "--json").stdout) == {"batches": 0, "rows_still_quarantined": 1}
    assert run("replay").stdout.strip() == "Batches changed: 0; rows that stay in quarantine: 1."


def test_a_file_of_the_inbox_in_no_folder_of_a_data_set_shows_in_status(settings: Settings, profile_id: str) -> None:
    path = settings.inbox / profile_id / "touchs" / "t.csv"
    path.parent.mkdir(parents=True)
    path.write_text(TOUCHES)
    (told,) = json.loads(run("status", "--json").stdout)["files_not_loaded"]
    assert told["file"] == f"{profile_id}/touchs/t.csv"
    assert "did you mean 'touches'" in told["reason"]
    # whole and in one line, for nothing here has a width
    assert f"{profile_id}/touchs/t.csv" in run("status").stdout
    assert f"  {told['reason']}" in run("status").stdout


def test_rows_in_quarantine_are_printed_and_no_longer_counted_once_their_key_landed(
    settings: Settings, profile_id: str, tmp_path: Path
) -> None:
    for name, rows in (("a [bold].csv", ["t2,yesterday", "t3,yesterday"]), ("b.csv", ["t2,2026-03-01T12:00:00Z"])):
        path = tmp_path / name
        path.write_text(TOUCHES + "".join(f"{row},a1,web,web,true\n" for row in rows))
        run("import", "touches", str(path), "--profile", profile_id)
    (reason,) = json.loads(run("status", "--json").stdout)["quarantine"]
    assert reason["rows"] == 1
    shown = json.loads(run("status", "--rows", "touches", "--json").stdout)
    assert [(one["batch"], one["row"], one["field"], one["corrected"]) for one in shown] == [
        ("a [bold].csv", 2, "occurred_at", True),
        ("a [bold].csv", 3, "occurred_at", False),
    ]
    assert shown[0]["record"]["touch_key"] == "t2"
    printed = run("status", "--rows", "touches").stdout
    assert [word for word in ("a [bold].csv", "yesterday", shown[0]["reason"]) if word not in printed] == []
    assert run("status", "--rows", "touches", "--quiet").stdout == "2\n"
    assert "there is no data set 'touchs'" in run("status", "--rows", "touchs", code=1).stderr


def test_the_status_of_an_empty_deployment_says_that_nothing_is_served(home: Path) -> None:
    assert "Nothing is served" in run("status").stdout
    assert json.loads(run("status", "--json").stdout)["snapshot"] is None
    assert run("status", "--quiet").stdout == ""


def test_the_doctor_finds_a_fresh_machine_well(home: Path) -> None:
    findings = json.loads(run("doctor", "--json").stdout)
    assert {"Python", "packages", "state folder", "disk", "database", "port", "snapshot"} <= {
        one["subject"] for one in findings
    }
    assert run("doctor", "--quiet").stdout == "ok\n"


@pytest.mark.parametrize("command", ["status", "doctor"])
def test_a_wrong_setting_is_told_in_one_line(home: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("TOUCHLEDGER_API_PORT", "abc")
    load.cache_clear()
    told = run(command, code=1).stderr
    assert re.fullmatch(r"Error: TOUCHLEDGER_API_PORT: .*integer.*\n", told)


def test_a_database_that_does_not_answer_is_told_in_one_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHLEDGER_DATABASE_URL", "postgresql+psycopg://user:hunter2@127.0.0.1:1/touchledger")
    load.cache_clear()
    told = run("status", code=1).stderr
    assert re.fullmatch(r"Error: the database cannot be used: .*\n", told)
    assert "hunter2" not in told


def test_a_state_folder_that_cannot_be_made_is_told_in_one_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(home / "file" / "state"))
    load.cache_clear()
    assert re.fullmatch(r"Error: .*file.*: Not a directory; .*\n", run("status", code=1).stderr)


def test_the_doctor_names_the_way_out_of_a_damaged_pointer(settings: Settings) -> None:
    settings.published.mkdir()
    (settings.published / "current.json").write_text("{")
    findings = json.loads(run("doctor", "--json", code=1).stdout)
    (broken,) = [one for one in findings if one["verdict"] == "fail"]
    assert broken["subject"] == "snapshot"
    assert "touchledger build" in broken["way_out"]


def test_the_doctor_sees_a_database_of_an_older_schema(settings: Settings) -> None:
    with transaction(settings.operational_url) as session:
        session.execute(sa.text("drop table idempotency_records"))
    (broken,) = [one for one in json.loads(run("doctor", "--json", code=1).stdout) if one["verdict"] == "fail"]
    assert broken["subject"] == "database"


def test_up_refuses_a_taken_port_before_it_does_anything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        monkeypatch.setenv("TOUCHLEDGER_SANDBOX_PORT", str(listener.getsockname()[1]))
        result = run("up", "--once", code=1)
    assert "set TOUCHLEDGER_SANDBOX_PORT=<port>" in result.stderr
    assert list(home.iterdir()) == []
