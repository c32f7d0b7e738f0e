"""Publishing while requests run: no request fails, and no answer holds two versions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tests.api.v1.campaigns.conftest import PROFILE, WINDOW, Caller, Deployment

READERS = 3
PUBLICATIONS = 8
# an allowance is 60 a minute: each reader stays within its own
REQUESTS = 25


def _version(number: int) -> dict[str, list[dict[str, Any]]]:
    """Spend, cash and name all tell the version, and each comes from a table of its own."""
    profile = {
        "profile_key": 1,
        "profile_id": PROFILE,
        "currency": "USD",
        "currency_digits": 0,
        "settings_version": "s",
    }
    campaign = {"profile_key": 1, "level": "campaign", "entity_key": 1}
    day = {**campaign, "day": "2026-03-01"}
    return {
        "profiles": [profile],
        "entities": [{**campaign, "entity_id": "one", "name": str(number)}],
        "delivery_daily": [{**day, "spend_minor": number}],
        "credit_daily": [{**day, "model": "last_touch", "cash_minor": number, "payment_received": 1}],
        "entity_reach": [{**campaign, "date_from": "2026-03-01", "date_to": "2026-03-02", "reach": number}],
    }


def _versions(body: dict[str, Any]) -> set[float]:
    (row,) = body["data"]
    return {row["spend"], row["outcome_value"], row["reach"], float(row["campaign_name"])}


def _reader(caller: Caller, answers: list[tuple[int, set[float]]]) -> Callable[[], None]:
    def read() -> None:
        for _ in range(REQUESTS):
            response = caller.get("/campaigns", **WINDOW, level="campaign")
            answers.append((response.status_code, _versions(response.json) if response.status_code == 200 else set()))

    return read


def test_publishing_under_load_answers_200_and_one_version_at_a_time(deployment: Deployment) -> None:
    deployment.publish(_version(1), token=1)
    answers: list[tuple[int, set[float]]] = []
    threads = [threading.Thread(target=_reader(deployment.new_caller(), answers)) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for number in range(2, PUBLICATIONS + 2):
        deployment.publish(_version(number), token=number)
    for thread in threads:
        thread.join()
    assert {status for status, _ in answers} == {200}
    assert len(answers) == READERS * REQUESTS
    assert all(len(versions) == 1 for _, versions in answers)
    assert len({min(versions) for _, versions in answers}) > 1
    final = _versions(deployment.new_caller().get("/campaigns", **WINDOW, level="campaign").json)
    assert final == {PUBLICATIONS + 1}
