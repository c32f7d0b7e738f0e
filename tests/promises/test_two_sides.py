"""What platforms claim and what the service credits are never added, on any route that reads published figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from hypothesis import given, settings
from hypothesis import strategies as st

from api import db
from api.models import RateUse
from api.snapshot import snapshots
from tests.factories import accounts, served
from tests.factories.deployments import application, migrate
from touchledger.settings import Settings

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "comparison"
PROFILE = "01900000-0000-7000-8000-00000000aaaa"
CLAIMS = ("platform_conversions", "platform_conversion_value_minor")
# what a platform says, and the two differences that name both sides; every other figure is ours or plain delivery
THEIRS = {
    "platform_conversions", "platform_conversion_value", "platform_roas", "platform_reported_conversions",
    "platform_reported_conversion_value",
}  # fmt: skip
BETWEEN = {"conversion_gap", "conversion_gap_pct", "value_gap"}
VALUES = {
    "date_from": "2026-02-20", "date_to": "2026-03-02", "entity_ids": "aaaaaaaa-0000-8000-8000-000000000031",
    "ad_id": "301",
}  # fmt: skip

Leaves = dict[tuple[str, ...], Any]


class Service:
    """An API over golden figures of which either side can be multiplied."""

    def __init__(self, home: Path) -> None:
        self.settings = Settings(home=home)
        migrate(self.settings)
        self.app: Flask = application(self.settings)
        url = self.settings.operational_url
        self.secret = accounts.secret(url, accounts.profile(url, profile_id=PROFILE))
        self.token = 0

    @cached_property
    def plain(self) -> Leaves:
        """What is answered with neither side multiplied."""
        return self.answers()

    def answers(self, *, claims: int = 1, credit: int = 1) -> Leaves:
        """Every number and text of every answer, by route and place, with one side or both multiplied."""
        self.token += 1
        served.publish(self.settings.published, _multiplied(claims, credit), token=self.token)
        leaves: Leaves = {}
        for path, query in _asked(self.app):
            for level in ({}, {"level": "ad"}) if "level" in query else ({},):
                leaves |= dict(_leaves(self._data(path, {**query, **level}), (path, str(level))))
        return leaves

    def _data(self, path: str, query: Mapping[str, str]) -> Any:
        with db.transaction(self.settings.operational_url, durable=False) as session:
            session.execute(sa.delete(RateUse))
        headers = {"Authorization": f"Bearer {self.secret}"}
        response = self.app.test_client().get(path, query_string=query, headers=headers)
        assert response.status_code == 200, (path, response.text)
        return response.json["data"]


def _multiplied(claims: int, credit: int) -> served.Rows:
    tables = served.from_csv(GOLDEN)
    for table, rows in tables.items():
        ours = table.endswith("_daily") and table != "delivery_daily"
        names = {name for row in rows for name in row if _is_figure(name)} if ours else set(CLAIMS)
        for row in rows:
            row |= {name: Decimal(str(row[name])) * (credit if ours else claims) for name in names if name in row}
    return tables


def _is_figure(name: str) -> bool:
    return name not in {"profile_key", "model", "level", "platform", "day", "entity_key", "reason"}


def _asked(app: Flask) -> list[tuple[str, dict[str, str]]]:
    """Every GET under a scope whose required parameters we know, with all it needs."""
    document = app.test_client().get("/openapi.json").get_json()
    found = []
    for path, operations in document["paths"].items():
        operation = operations.get("get", {})
        parameters = {one["name"]: one for one in operation.get("parameters", [])}
        needed = {name for name, one in parameters.items() if one.get("required")}
        if operation.get("x-scope") == "campaigns:read" and needed <= VALUES.keys():
            dated = {name for name in ("date_from", "date_to") if name in parameters}
            query = {name: VALUES[name] for name in needed | dated if parameters[name]["in"] == "query"}
            levels = {"level": "campaign"} if "level" in parameters else {}
            found.append((path.format(**VALUES), {**query, **levels}))
    return found


def _leaves(value: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield place, value
        return
    for key, inner in items:
        yield from _leaves(inner, (*place, str(key)))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    made = Service(tmp_path_factory.mktemp("two-sides"))
    yield made
    snapshots(made.settings).close()
    db.close_engines(made.settings.operational_url)


@settings(max_examples=12)
@given(k=st.integers(2, 5_000))
def test_claims_multiplied_move_no_figure_of_the_service(service: Service, k: int) -> None:
    plain, claimed = service.plain, service.answers(claims=k)
    moved = {place[-1] for place in plain | claimed if plain.get(place) != claimed.get(place)}
    assert moved <= THEIRS | BETWEEN
    assert moved >= THEIRS


@settings(max_examples=6)
@given(k=st.integers(2, 5_000))
def test_credit_multiplied_moves_no_claim_of_a_platform(service: Service, k: int) -> None:
    plain, credited = service.plain, service.answers(credit=k)
    moved = {place[-1] for place in plain | credited if plain.get(place) != credited.get(place)}
    assert moved.isdisjoint(THEIRS)
    assert moved >= {"service_cash_revenue", "outcome_value", "service_conversions", "value_gap"}


def test_no_figure_of_any_answer_is_the_sum_of_both_sides(service: Service) -> None:
    # primes beyond every golden figure: a sum of the two sides would be none of the figures by chance
    answers = service.answers(claims=7_919, credit=104_729)
    numbers = {Decimal(str(value)) for value in answers.values() if _is_number(value)}
    theirs = {Decimal(str(value)) for place, value in answers.items() if place[-1] in THEIRS and _is_number(value)}
    ours = {
        Decimal(str(value))
        for place, value in answers.items()
        if place[-1].startswith(("service_", "outcome_", "attributed_")) and _is_number(value)
    }
    sums = {a + b for a in theirs if a for b in ours if b}
    assert len(sums) > 20
    assert sums.isdisjoint(numbers)


def _is_number(value: Any) -> bool:
    try:
        return value is not None and not isinstance(value, bool) and Decimal(str(value)).is_finite()
    except ArithmeticError:
        return False


def test_every_route_with_both_sides_is_asked(service: Service) -> None:
    paths = {path for path, _ in _asked(service.app)}
    assert paths >= {"/api/v1/campaigns", "/api/v1/campaigns/platform-comparison", "/api/v1/ads/301"}
