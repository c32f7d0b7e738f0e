"""Served tables in, JSON out: the arithmetic is in tests/golden/journeys/README.md."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.v1.campaigns.conftest import Caller
from tests.api.v1.conversions.conftest import GOLDEN, WINDOW, conversion_id

ANSWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "journey": (f"/conversions/{conversion_id(1)}/journey", {}),
    "journey_of_a_renewal": (f"/conversions/{conversion_id(2)}/journey", {}),
    "journey_without_a_path": (f"/conversions/{conversion_id(3)}/journey", {}),
    "customer": ("/customers/journey", {"customer_key": "ext:crm-77"}),
    "counts": ("/conversions", WINDOW),
    "timeseries": ("/conversions/timeseries", WINDOW),
    "list": ("/conversions/list", WINDOW),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_one_computed_by_hand(caller: Caller, name: str) -> None:
    path, query = ANSWERS[name]
    response = caller.get(path, **query)
    assert response.status_code == 200, response.text
    assert response.json["data"] == json.loads((GOLDEN / "answers" / f"{name}.json").read_text())
