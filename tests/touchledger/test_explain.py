"""`touchledger explain` on the golden journeys: the table of docs/models.md comes out as it is printed there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.factories import served
from touchledger.cli import main
from touchledger.settings import load

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "journeys"
PROFILE = "01900000-0000-7000-8000-00000000aaaa"
MODELS = ("last_touch", "first_touch", "linear", "time_decay", "last_non_direct")


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder that serves the golden journeys."""
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    load.cache_clear()
    served.publish(load().published, served.from_csv(GOLDEN))
    return tmp_path


def explain(*words: str) -> Result:
    return CliRunner().invoke(main, ["explain", *words])


def _documented() -> tuple[list[list[str]], list[list[str]]]:
    """The two tables under "By hand" of docs/models.md, as rows of cells."""
    text = (ROOT / "docs" / "models.md").read_text().split("### By hand")[1].split("## Money")[0]
    rows = [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line]
    begin = next(at for at, row in enumerate(rows) if row[0] == "model")
    return rows[2:begin], rows[begin + 2 :]


def test_the_worked_table_of_the_models_page_is_what_is_explained(told: Path) -> None:
    weights, money = _documented()
    data = json.loads(explain("sale-1", "--profile", PROFILE, "--json").stdout)
    columns = ("last_touch", "first_touch", "last_non_direct", "linear", None, "time_decay")
    for row, touch in zip(weights[:-1], data["touches"], strict=True):
        assert row[1] == f"{touch['age_seconds'] // 86_400} d"
        for cell, model in zip(row[2:], columns, strict=True):
            if model:
                assert float(cell or 0) == pytest.approx(touch["weights"][model], abs=6e-7)
    cents = {part["to"]: part["cents"] for part in data["destinations"]}
    for model, *values, _ in money:
        names = ("A", "B / B one ad", "direct")
        assert [f"{cents[name][model] / 100:.2f}" for name in names] == values


def test_a_person_reads_weights_and_money_that_add_up(told: Path) -> None:
    printed = explain("stripe:pi_1").stdout
    lines = [re.split(r"\s{2,}", line.strip()) for line in printed.splitlines()]
    sums = [line for line in lines if line[0] == "sum"]
    assert sums == [["sum", *("1",) * 5], ["sum", *("100.00",) * 5]]
    assert "Net cash 100.00 USD, after 25.00 refunded" in printed
    assert "Look-back 90 days, half-life 7 days" in printed
    (last,) = [line for line in lines if line[:1] == ["5"]]
    assert last[1:5] == ["2026-01-14 12:00:00", "chatapp", "B / B one ad", "1 d"]


def test_what_was_taken_back_beyond_the_payment_is_told(told: Path) -> None:
    """Whoever sums the refunds of the processor finds more than the refunded amount, and was told nothing of it."""
    assert json.loads(explain("stripe:pi_1", "--json").stdout)["refunded_beyond"] is None
    rows = served.from_csv(GOLDEN)
    payment = {"profile_key": 1, "ts": 1768478400, "currency": "EUR", "value": "125", "refunded": "25"}
    rows["payments"] = [
        {**payment, "payment_ref": "stripe:pi_1", "refunded_beyond": "7.5"},
        {**payment, "payment_ref": "stripe:pi_2", "refunded_beyond": "0"},
    ]
    served.publish(load().published, rows)
    assert "7.50 EUR more were taken back than it was worth: they lower no figure" in explain("stripe:pi_1").stdout
    told_in_json = json.loads(explain("stripe:pi_1", "--json").stdout)["refunded_beyond"]
    assert told_in_json == {"value": "7.50", "currency": "EUR"}
    assert "more were taken back" not in explain("stripe:pi_2").stdout


def test_settings_of_one_day_are_told_as_such(told: Path) -> None:
    rows = served.from_csv(GOLDEN)
    for profile in rows["profiles"]:
        profile |= {"lookback_days": 1, "half_life_days": 1}
    served.publish(load().published, rows)
    assert "Look-back 1 day, half-life 1 day" in explain("stripe:pi_1").stdout


@pytest.mark.parametrize("columns", [None, "80"])
def test_no_figure_is_cut_in_a_pipe_and_in_a_narrow_terminal(
    told: Path, monkeypatch: pytest.MonkeyPatch, columns: str | None
) -> None:
    monkeypatch.setenv("COLUMNS", columns) if columns else monkeypatch.delenv("COLUMNS")
    printed = explain("sale-1", "--profile", PROFILE).stdout
    assert "…" not in printed
    assert ("2026-01-14 12:00:00" in printed) is (columns is None)
    assert max(map(len, printed.partition("Path")[2].splitlines())) > 80 or columns


def test_brackets_in_the_name_of_a_campaign_are_printed_and_not_obeyed(told: Path) -> None:
    tables = served.from_csv(GOLDEN)
    for row in tables["entities"]:
        if row["level"] == "campaign":
            row["name"] = f"Sale [/50 off] [bold] {row['name']}"
    served.publish(load().published, tables)
    path, money = explain("sale-1", "--profile", PROFILE).stdout.split("Money, USD")
    assert "Sale [/50 off] [bold] A" in path
    assert "Sale [/50 off] [bold] A" in money


def test_signs_that_a_terminal_obeys_are_spelt_out(told: Path) -> None:
    tables = served.from_csv(GOLDEN)
    for row in tables["entities"]:
        row["name"] = "a\x1b]0;owned\x1b\\b\x9b2J\u202ec\nd"
    served.publish(load().published, tables)
    printed = explain("sale-1", "--profile", PROFILE).stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", printed)
    shown = r"a\x1b]0;owned\x1b\b\x9b2J\u202ec\nd"
    path, money = printed.split("Money, USD")
    assert shown in path and shown in money


def test_a_renewal_names_its_first_payment_and_keeps_that_ones_ages(told: Path) -> None:
    data = json.loads(explain("stripe:pi_2", "--json").stdout)
    assert [touch["age_seconds"] // 86_400 for touch in data["touches"]] == [9, 6, 3, 2, 1]
    assert all(touch["inherited"] for touch in data["touches"])
    assert {model: sum(part["cents"][model] for part in data["destinations"]) for model in MODELS} == dict.fromkeys(
        MODELS, 1
    )
    assert data["conversion"]["inherited_from"] in explain("stripe:pi_2").stdout


def test_a_conversion_without_a_path_says_so(told: Path) -> None:
    printed = explain("lead-1").stdout
    assert "no_touch" in printed
    assert "Projected value 5,000.00 USD" in printed


def test_a_renewal_whose_first_payment_is_unknown_says_so_and_not_that_nobody_came(told: Path) -> None:
    tables = served.from_csv(GOLDEN)
    (renewal,) = (one for one in tables["conversions"] if one["conversion_ref"] == "stripe:pi_2")
    renewal["path_conversion_key"], renewal["inherited_from"], renewal["touches"] = None, None, 0
    served.publish(load().published, tables)
    printed = explain("stripe:pi_2").stdout
    assert "A renewal whose first payment is not known: unattributed (no_touch) under every model." in printed
    assert "no path" not in printed
    assert json.loads(explain("stripe:pi_2", "--json").stdout)["touches"] == []


def test_a_handle_of_two_profiles_needs_the_profile(told: Path) -> None:
    # the other profile's payment reference is spelt like this one's event key
    ambiguous = explain("sale-1")
    assert ambiguous.exit_code == 1
    assert "--profile" in ambiguous.output
    assert explain("sale-1", "--profile", PROFILE).exit_code == 0


def test_an_unknown_conversion_is_told(told: Path) -> None:
    answer = explain("nothing")
    assert answer.exit_code == 1
    assert "no conversion is known as nothing" in answer.output


def test_a_profile_that_is_not_published_is_told_and_not_the_conversion(told: Path) -> None:
    # the conversion was said to be unknown, though another profile has it
    result = explain("sale-1", "--profile", PROFILE.replace("a", "c"))
    assert result.exit_code == 2
    assert f"--profile: nothing is published of a profile '{PROFILE.replace('a', 'c')}'" in result.stderr


def test_before_the_first_publication_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(tmp_path))
    load.cache_clear()
    assert "touchledger build" in explain("sale-1").output
