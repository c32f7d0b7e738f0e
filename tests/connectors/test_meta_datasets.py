"""Datasets and customer lists of the sandbox: made once whatever gets lost, and replaced in a session of their own."""

from __future__ import annotations

import json

import pytest

from connectors.errors import ConnectorError, Refused
from connectors.meta_datasets import MetaDatasets
from connectors.meta_graph import MetaGraph
from connectors.transport import Transport
from sandbox.chatapp import ACCOUNT
from sandbox.faces import TOKENS
from tests.fixtures.sandbox import RunningSandbox

ANN, BOB = ("a" * 64, ""), ("b" * 64, "")


@pytest.fixture
def platform(sandbox: RunningSandbox, transport: Transport) -> MetaDatasets:
    return MetaDatasets(f"{sandbox.url}/meta", TOKENS["meta"], sandbox.world.accounts[0].id, transport)


@pytest.mark.parametrize("of_messaging", [False, True])
def test_a_dataset_whose_answer_was_lost_is_found_by_its_name_and_not_made_again(
    sandbox: RunningSandbox, transport: Transport, of_messaging: bool
) -> None:
    # the business account that is found when a person connects a chat app
    account = ACCOUNT if of_messaging else sandbox.world.accounts[0].id
    platform = MetaDatasets(f"{sandbox.url}/meta", TOKENS["meta"], account, transport)
    sandbox.plan({"route": "adspixels$|dataset$", "method": "POST", "kind": "truncation"})
    with pytest.raises(ConnectorError):
        platform.make_dataset("Shop (clean)", of_messaging=of_messaging)
    found = platform.make_dataset("Shop (clean)", of_messaging=of_messaging)
    assert platform.datasets(of_messaging=of_messaging)[1:] == [found]


def test_a_list_whose_answer_was_lost_is_not_made_a_second_time(
    sandbox: RunningSandbox, platform: MetaDatasets
) -> None:
    sandbox.plan({"route": "customaudiences$", "method": "POST", "kind": "truncation"})
    with pytest.raises(ConnectorError):
        platform.make_list("Buyers")
    assert len(sandbox.audiences()) == 1


def test_a_throttled_making_is_asked_again_since_nothing_was_done(
    sandbox: RunningSandbox, platform: MetaDatasets, slept: list[float]
) -> None:
    sandbox.plan({"route": "customaudiences$", "method": "POST", "kind": "throttled", "wait": 3})
    assert platform.make_list("Buyers") in sandbox.audiences()
    assert slept


def test_a_list_is_replaced_in_a_session_that_ends_with_its_only_batch(
    sandbox: RunningSandbox, platform: MetaDatasets, transport: Transport
) -> None:
    number = platform.make_list("Buyers")
    platform.change_list(number, [ANN], "add")
    platform.change_list(number, [BOB], "replace")
    assert sandbox.audiences()[number]["people"] == [list(BOB)]
    graph = MetaGraph(f"{sandbox.url}/meta", TOKENS["meta"], transport)
    payload = json.dumps({"schema": ["EMAIL", "PHONE"], "data": [ANN]})
    with pytest.raises(Refused, match="session"):
        graph.post(f"{number}/usersreplace", {"payload": payload})
    # a schema of several keys has names of its own: those of hashes alone are of one key
    payload = json.dumps({"schema": ["EMAIL_SHA256", "PHONE_SHA256"], "data": [ANN]})
    with pytest.raises(Refused, match="Raw PII type is invalid"):
        graph.post(f"{number}/users", {"payload": payload})
