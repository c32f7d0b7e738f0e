"""The doctor as a script runs it: in a process of its own."""

from __future__ import annotations

import json
import socket

import pytest

from tests.end_to_end.command import Deployment
from touchledger.doctor import ports
from touchledger.settings import Settings


@pytest.fixture
def deployment(settings: Settings) -> Deployment:
    return Deployment(settings.home)


def test_the_doctor_of_a_migrated_database_prints_json_or_a_word_and_nothing_else(deployment: Deployment) -> None:
    findings = json.loads(deployment.run("doctor", "--json"))
    assert next(one["verdict"] for one in findings if one["subject"] == "database") == "ok"
    assert deployment.run("doctor", "--quiet") == "ok"


@pytest.mark.skipif(not socket.has_ipv6, reason="the machine has no IPv6")
def test_a_port_that_is_taken_on_an_address_of_ipv6_is_told(settings: Settings) -> None:
    with socket.socket(socket.AF_INET6) as listener:
        listener.bind(("::1", 0))
        listener.listen()
        there = {"api_host": "::1", "api_port": listener.getsockname()[1]}
        finding = next(ports(settings.model_copy(update=there)))
    assert finding.verdict == "warn"
