"""Served tables in, JSON out: the arithmetic is in tests/golden/campaigns/README.md."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.v1.campaigns.conftest import GOLDEN, Caller

BACK_AGAIN = "aaaaaaaa-0000-8000-8000-000000000012"
SPRING_SALE = "aaaaaaaa-0000-8000-8000-000000000011"

ANSWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "campaigns_last_touch": ("/campaigns", {}),
    "campaigns_last_touch_campaign": ("/campaigns", {"level": "campaign"}),
    "campaigns_last_touch_ad": ("/campaigns", {"level": "ad"}),
    "unattributed_last_touch": ("/campaigns/unattributed", {}),
    "unattributed_last_touch_ad": ("/campaigns/unattributed", {"level": "ad"}),
    "trend": ("/campaigns/trend", {"entity_ids": f"{BACK_AGAIN},{SPRING_SALE}"}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_one_computed_by_hand(caller: Caller, name: str) -> None:
    path, query = ANSWERS[name]
    assert caller.data(path, **query) == json.loads((GOLDEN / "answers" / f"{name}.json").read_text())
