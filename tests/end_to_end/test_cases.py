"""The 52 cases of attribution: rows landed in the lake, built, published, and the figures that the API answers."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import groupby
from typing import Any

import pytest

from tests.end_to_end.golden_cases import MODELS, Answers, Told, asked, questions, read

COUNTS = ("outcome_count", "outcome_value", "attributed_outcome_count")
Figures = tuple[Decimal, ...]
Line = dict[str, str]


def _cases() -> dict[str, list[Line]]:
    """Lines of expected.csv by the case's name."""
    cases = [list(lines) for _, lines in groupby(read("expected"), key=lambda line: line["case"])]
    return {f"case_{int(lines[0]['case']):02d}_{lines[0]['sentence']}": lines for lines in cases}


CASES = _cases()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return asked(tmp_path_factory.mktemp("cases"))


@pytest.mark.parametrize("name", CASES)
def test_the_api_answers_what_was_worked_out_by_hand(name: str, told: Answers) -> None:
    for line in CASES[name]:
        for question in questions(line):
            answered = told.told[question]
            assert {key: _figures(row) for key, row in answered.rows.items()} == _written(line["rows"]), question
            assert _reasons(answered) == _written(line["unattributed"]), question
            assert (_figures(answered.rest["profile_total"]),) == tuple(_written("all " + line["total"]).values())
            for member in filter(None, line["also"].split("; ")):
                place, value = member.split("=")
                key, field = place.split(".")
                assert answered.rows[key][field] == json.loads(value), (question, member)


@pytest.mark.parametrize("name", CASES)
def test_the_remainder_is_the_sum_of_its_reasons_and_every_model_is_asked(name: str, told: Answers) -> None:
    asked_of = {question for line in CASES[name] for question in questions(line)}
    for _, build, level, window, _ in asked_of:
        same = {model for _, *rest, model in asked_of if rest == [build, level, window]}
        assert same == set(MODELS.values())
    for question in asked_of:
        rest = told.told[question].rest
        assert _figures(rest) == tuple(sum(column) for column in zip(*map(_figures, rest["by_reason"]), strict=True))


@pytest.mark.parametrize("line", read("elsewhere"), ids=lambda line: f"case_{line['case']}_{line['member']}")
def test_other_routes_tell_the_case_the_same_way(line: Line, told: Answers) -> None:
    found = told.elsewhere[line["case"], line["path"], line["query"]]
    for step in line["member"].split("."):
        found = found[int(step) if step.isdigit() else step]
    assert found == json.loads(line["value"])


def test_there_are_52_cases_each_once() -> None:
    numbers = [name.split("_")[1] for name in CASES]
    assert numbers == [f"{number:02d}" for number in range(1, 53)]


def _figures(row: dict[str, Any]) -> Figures:
    return tuple(Decimal(str(row[name])) for name in COUNTS)


def _reasons(answered: Told) -> dict[str, Figures]:
    found = {row["reason"]: _figures(row) for row in answered.rest["by_reason"]}
    return {reason: figures for reason, figures in found.items() if any(figures)}


def _written(cell: str) -> dict[str, Figures]:
    """Figures by name of `A 1 50.00 1; B 1 50.00 1`."""
    parts = [part.split() for part in cell.split("; ") if part]
    return {name: tuple(map(Decimal, figures)) for name, *figures in parts}
