"""What an event calls its person: told beside its conversion, and taken back with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.v1.events.conftest import PAYMENT, Sender

Landing = Callable[..., list[dict[str, Any]]]
ANN = {**PAYMENT, "user_traits": {"email": "Ann@Example.com", "first_name": " Ann ", "last_name": "Lee"}}


def test_a_name_is_told_of_all_by_which_its_event_knows_the_person(sender: Sender, landing: Landing) -> None:
    body = {**ANN, "anonymous_id": "a1", "customer": {"email": "ann@example.com", "external_ref": "crm-1"}}
    for _ in range(2):
        sender.accepted(body)
    assert landing("personal_names") == [
        {
            "name_key": "order-1-paid",
            "told_at": "2026-03-05T14:02:11+00:00",
            "event_origin": "server",
            "anonymous_id": "a1",
            "email": "ann@example.com",
            "external_id": "crm-1",
            "first_name": "Ann",
            "last_name": "Lee",
        }
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"user_traits": {"email": "ann@example.com"}},
        {"user_traits": {"first_name": "Ann"}},
        {"properties": {**PAYMENT["properties"], "is_test": True}},
    ],
    ids=["no name", "nobody", "a test"],
)
def test_an_event_that_calls_nobody_anything_tells_no_name(
    sender: Sender, landing: Landing, changes: dict[str, Any]
) -> None:
    sender.accepted({**ANN, **changes})
    sender.retract("order-1-paid")
    assert landing("personal_names") == []


def test_a_name_is_taken_back_with_its_event(sender: Sender, landing: Landing) -> None:
    sender.accepted(ANN)
    for _ in range(2):
        assert sender.retract("order-1-paid").status_code == 200
    told, withdrawn = landing("personal_names")
    gone = {"name_key": told["name_key"], "_deleted": True}
    assert gone.items() <= withdrawn.items() and withdrawn["updated_at"] == landing()[1]["updated_at"]
