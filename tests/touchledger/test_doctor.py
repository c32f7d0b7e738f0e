"""The doctor as a script runs it: in a process of its own."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.command import Deployment
from touchledger.settings import Settings


@pytest.fixture
def deployment(settings: Settings) -> Deployment:
    return Deployment(settings.home)


def test_the_doctor_of_a_migrated_database_prints_json_or_a_word_and_nothing_else(deployment: Deployment) -> None:
    findings = json.loads(deployment.run("doctor", "--json"))
    assert next(one["verdict"] for one in findings if one["subject"] == "database") == "ok"
    assert deployment.run("doctor", "--quiet") == "ok"
