"""Settings come from the environment, each with a sentence in .env.example."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from touchledger.cli import main
from touchledger.doctor import variables
from touchledger.own_key import LostKeyError
from touchledger.settings import REPOSITORY, Settings, WrongSettingError, load, unknown_variables

EXAMPLE = (REPOSITORY / ".env.example").read_text()

MASTERS = ("spark://host:7077", "spark://host:7077,other:7077", "spark://[::1]:7077")
# most were taken: the doctor said that all is well, Spark refused them in the midst of a build, and a password was told
NO_MASTERS = (
    *("local[x]", "local[0]", "local[2", "local[2] ", "spark://host:7077 ", "spark://host", "spark://host:7077/"),
    *("spark://user:hunter2@host:7077", "https://host:7077", "spark://host:7077,spark://other:7077", "yarn-cluster"),
)


def test_every_setting_is_in_the_example_with_its_default_as_a_shell_reads_it() -> None:
    # the sender's name and address stood there bare, and the shell took < for a file to read from
    sourced = ["env", "-i", "sh", "-c", "set -a; . ./.env.example; exec env -0"]
    told = subprocess.run(sourced, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    lines = dict(line.split("=", 1) for line in told.split("\0") if line)
    stated = {
        name.removeprefix("TOUCHLEDGER_").lower(): value
        for name, value in lines.items()
        if name.startswith("TOUCHLEDGER_")
    }
    defaults = {
        name: "" if field.default is None else str(field.default) for name, field in Settings.model_fields.items()
    }
    assert stated == defaults


def test_every_setting_of_the_example_has_a_sentence() -> None:
    previous = dict(zip(EXAMPLE.splitlines()[1:], EXAMPLE.splitlines(), strict=False))
    for line in EXAMPLE.splitlines():
        if line.startswith("TOUCHLEDGER_"):
            assert re.fullmatch(r"# [A-Zo].{10,}", previous[line]), line


def test_a_variable_that_is_no_setting_is_named_with_the_setting_meant(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    # a database address with a letter missing was ignored in silence, and the profile was made in SQLite
    for name in ("TOUCHLEDGER_DATABSE_URL", "TOUCHLEDGER_ANALYTICS", "TOUCHLEDGER_KILLS", "touchledger_api_port"):
        monkeypatch.setenv(name, "8111")
    assert unknown_variables() == {
        "TOUCHLEDGER_ANALYTICS": None, "TOUCHLEDGER_DATABSE_URL": "TOUCHLEDGER_DATABASE_URL",
    }  # fmt: skip
    told = CliRunner().invoke(main, ["status", "--json"])
    named = "TOUCHLEDGER_DATABSE_URL is no setting and changes nothing"
    assert told.stderr == f"{named}; TOUCHLEDGER_DATABASE_URL is one.\n"
    assert [(one.verdict, one.found, one.way_out) for one in variables(settings)] == [
        ("warn", "TOUCHLEDGER_ANALYTICS is no setting and changes nothing", "see .env.example"),
        ("warn", named, "set TOUCHLEDGER_DATABASE_URL instead"),
    ]


def test_no_variable_of_our_own_is_called_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [REPOSITORY / "Makefile", *(REPOSITORY / ".ci").iterdir(), *(REPOSITORY / "dbt_project").glob("*.yml")]
    files += [path for part in ("touchledger", "orchestration", "api") for path in (REPOSITORY / part).rglob("*.py")]
    for name in re.findall(r"TOUCHLEDGER_[A-Z_]*[A-Z]\b(?!_)", "".join(path.read_text() for path in files)):
        monkeypatch.setenv(name, "1")
    assert unknown_variables() == {}


def test_the_state_folder_is_absolute_whatever_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOUCHLEDGER_HOME", "state")
    load.cache_clear()
    assert load().home == tmp_path / "state"


def test_a_home_in_a_path_of_sparks_is_that_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # people lay in a folder called ~ below wherever the command was called
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TOUCHLEDGER_SPARK_FOLDER", "~/runs")
    monkeypatch.setenv("TOUCHLEDGER_SPARK_ENVIRONMENT", "~/spark")
    told = Settings()
    assert (told.spark_runs, told.spark_environment) == (tmp_path / "runs", tmp_path / "spark")
    with pytest.raises(ValidationError, match=r"spark_folder\n.*not known here"):
        Settings(spark_folder=Path("~nobody-of-this-name/runs"))


@pytest.mark.parametrize("master", ["yarn", "k8s://https://host:6443", "local", "local[*]", "local[2, 3]", *MASTERS])
def test_every_form_of_a_spark_master_is_taken(master: str) -> None:
    assert Settings(spark_master=master).spark_master == master


def test_a_setting_of_the_wrong_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHLEDGER_API_PORT", "eighty")
    with pytest.raises(ValidationError, match="api_port"):
        Settings()


def test_an_empty_line_of_the_example_is_no_setting(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("TOUCHLEDGER_DATABASE_URL", "")
    assert Settings().operational_url == f"sqlite:///{home}/operational.db"


def test_a_database_password_is_in_no_repr() -> None:
    settings = Settings(database_url="postgresql+psycopg://user:hunter2@db/touchledger")  # type: ignore[arg-type]
    assert settings.operational_url.endswith("hunter2@db/touchledger")
    assert "hunter2" not in repr(settings)


def test_the_signing_key_is_made_once_and_readable_by_its_owner_only(home: Path) -> None:
    first = Settings(home=home).signing_key()
    assert Settings(home=home).signing_key() == first
    assert (home / "secret.key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in home.iterdir()] == ["secret.key"]


def test_an_empty_signing_key_is_refused(home: Path) -> None:
    # cursors were sealed, and providers' tokens encrypted, under a key that everybody knows
    (home / "secret.key").write_text("\n")
    with pytest.raises(LostKeyError, match="holds no key; put it back from the backup"):
        Settings(home=home).signing_key()


def test_whatever_is_set_settings_can_name_what_is_open(home: Path) -> None:
    priced = Settings(home=home, billing_prices={"growth_month": "price_1"})
    assert {priced: 1, Settings(home=home): 2}[priced] == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_PORT", "hunter2"),
        ("BILLING_PRICES", "hunter2"),
        ("DATABASE_URL", "hunter2"),
        ("DATABASE_URL", "nodatabase://user:hunter2@db/touchledger"),
        ("DATABASE_URL", "postgresql+psycopg://user@db:hunter2/touchledger"),
        ("DATABASE_URL", "mysql://user:hunter2@db/touchledger"),
        # the end of such a password was told as the server's name by the doctor and in the log
        ("DATABASE_URL", "postgresql+psycopg://user:p@hunter2@db/touchledger"),
        ("DATABASE_URL", "postgresql+psycopg://user:p@hunter2/word@db/touchledger"),
        ("DATABASE_URL", "postgresql+asyncpg://user:hunter2@db/touchledger"),
        ("WAREHOUSE_MEMORY_LIMIT", "hunter2"),
        ("SERVED_MEMORY_LIMIT", "lots of hunter2"),
        ("WAREHOUSE_MEMORY_LIMIT", "101%"),
        ("WAREHOUSE_MEMORY_LIMIT", "500 %"),
        ("WAREHOUSE_MEMORY_LIMIT", "0%"),
        ("WAREHOUSE_MEMORY_LIMIT", "0.0GB"),
        ("SERVED_MEMORY_LIMIT", "0 MB"),
        ("HOME", "~hunter2/state"),
        ("WAREHOUSE_THREADS", "99999999999999999999"),
        ("WAREHOUSE_THREADS", "1000000"),
        ("SERVED_THREADS", "99999999999999999999"),
        ("QUERY_DEADLINE_SECONDS", "inf"),
        ("QUERY_DEADLINE_SECONDS", "1e99"),
        *(("SPARK_MASTER", master) for master in NO_MASTERS),
        ("SPARK_DRIVER_MEMORY", "hunter2"),
        ("SPARK_DRIVER_MEMORY", "2gb"),
        ("SPARK_EXECUTOR_MEMORY", "2"),
        ("DEMO_TODAY", "0001-01-01"),
        ("DEMO_TODAY", "9999-12-31"),
        ("PUBLIC_URL", "hunter2.example.com"),
        ("PUBLIC_URL", "https://user:hunter2@example.com"),
        ("BILLING_URL", "hunter2"),
        ("BILLING_URL", "https://"),
    ],
)
def test_a_wrong_setting_is_named_and_its_value_is_not(
    monkeypatch: pytest.MonkeyPatch, home: Path, name: str, value: str
) -> None:
    monkeypatch.setenv(f"TOUCHLEDGER_{name}", value)
    load.cache_clear()
    with pytest.raises(WrongSettingError, match=f"^TOUCHLEDGER_{name}: ") as told:
        load()
    assert "hunter2" not in str(told.value)
    with pytest.raises(ValueError) as raised:
        Settings()
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("sign", ["*", "?", "[", "\\"])
def test_a_state_folder_that_the_database_would_read_as_a_pattern_is_refused(tmp_path: Path, sign: str) -> None:
    # profiles and imports went through there, and then no build found a file of the lake
    with pytest.raises(ValidationError, match=r"home\n.*without"):
        Settings(home=tmp_path / f"of {sign}ours" / "state")
    assert Settings(home=tmp_path / 'ñ o\'b {y}] 100% #1; "q"').home.parent == tmp_path


def test_a_state_folder_that_the_databases_address_would_spell_otherwise_is_refused(tmp_path: Path) -> None:
    # profiles went into another folder where that was there, and else no command could open the database
    with pytest.raises(ValidationError, match=r"home\n.*without %41, which the database reads as a letter"):
        Settings(home=tmp_path / "of%41ours" / "state")


def test_a_wildcard_of_the_folder_above_counts_when_the_state_folder_is_relative(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "[shop]").mkdir()
    monkeypatch.chdir(tmp_path / "[shop]")
    with pytest.raises(ValidationError, match="home"):
        Settings(home=Path("state"))


@pytest.mark.parametrize(
    "amount",
    ["50%", "100%", "0.5%", "99.5 %", "0.5GB", "1GB", "1.5 GiB", "512mb", "20MB", "900000000 bytes", "2g", "1TB"],
)
def test_an_amount_of_memory_that_is_let_through_is_one_to_the_database(home: Path, amount: str) -> None:
    limit = Settings(home=home, served_memory_limit=amount).served_memory_limit
    with duckdb.connect(config={"memory_limit": limit}) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
