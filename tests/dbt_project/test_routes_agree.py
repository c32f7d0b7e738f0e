"""Routes that tell of the same thing tell the same, to the cent: over random worlds, windows, models and levels."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.app import create_app
from api.models import RateUse
from api.scopes import DEFAULT_SCOPES, Scope
from api.served import MODELS
from api.snapshot import snapshots
from tests.dbt_project import credit_worlds, payment_worlds
from tests.dbt_project.credit_reference import LEVELS
from tests.factories import accounts
from tests.laws.answers import SINGLE
from touchledger.settings import Settings

DAYS = 34
FIRST, LAST = credit_worlds.START.date(), credit_worlds.START.date() + timedelta(days=DAYS - 1)
SUMMED = ("spend", "outcome_value", "attributed_outcome_count")

Sums = dict[str, Decimal]


@dataclass(frozen=True)
class Reader:
    """Asks the API with the key of one profile."""

    client: FlaskClient
    url: str
    secret: str

    def body(self, path: str, **query: object) -> Any:
        with db.transaction(self.url, durable=False) as session:
            session.execute(sa.delete(RateUse))
        headers = {"Authorization": f"Bearer {self.secret}"}
        response = self.client.get(f"/api/v1{path}", query_string=query, headers=headers)
        assert response.status_code == 200, response.text
        return json.loads(response.text, parse_float=Decimal, parse_int=Decimal)

    def data(self, path: str, **query: object) -> Any:
        return self.body(path, **query)["data"]

    def pages(self, path: str, **query: object) -> list[dict[str, Any]]:
        """Every row of a list; a small page, so that there are several."""
        rows, cursor = [], {}
        while True:
            body = self.body(path, limit=7, **query, **cursor)
            rows += body["data"]
            following = body["pagination"]["cursor"] if "pagination" in body else body["meta"]["next_cursor"]
            if following is None or not body.get("pagination", {}).get("has_next", True):
                return rows
            cursor = {"cursor": following}


@pytest.fixture(scope="module")
def readers(published: Settings) -> Iterator[list[Reader]]:
    url = published.operational_url
    client = create_app(published).test_client()
    worlds = [credit_worlds.world(seed).id for seed in credit_worlds.SEEDS]
    yield [Reader(client, url, accounts.secret(url, accounts.profile(url, profile_id=one))) for one in worlds]
    snapshots(published).close()
    db.close_engines(url)


def windows(seed: int) -> list[dict[str, str]]:
    """All of a world's days, and some of them."""
    first, last = sorted(Random(seed).sample(range(DAYS), 2))
    return [window(FIRST, LAST), window(FIRST + timedelta(days=first), FIRST + timedelta(days=last))]


def window(first: date, last: date) -> dict[str, str]:
    return {"date_from": first.isoformat(), "date_to": last.isoformat()}


def something(sums: Mapping[str, Decimal]) -> Sums:
    return {name: value for name, value in sums.items() if value}


def summed(rows: list[dict[str, Any]], key: str, value: str) -> Sums:
    """Sums of a value that are not zero, by key."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        found[row[key]] += row[value] or 0
    return something(found)


@pytest.mark.parametrize("seed", credit_worlds.SEEDS)
def test_days_and_types_and_single_conversions_add_up_to_the_overview(seed: int, readers: list[Reader]) -> None:
    ask = readers[seed]
    for asked in windows(seed):
        overview, days = ask.data("/overview", **asked)["current"], ask.data("/timeseries", **asked)
        for figure in ("spend", "revenue", "cash_revenue", "cash_payments", "outcomes"):
            assert sum(day[figure] for day in days) == overview[figure], (asked, figure)
        types, single = ask.data("/conversions", **asked), ask.pages("/conversions/list", **asked)
        assert sum(row["count"] for row in types) == overview["outcomes"] == len(single)
        assert len({row["conversion_id"] for row in single}) == len(single)
        counts = {row["event_type"]: row["count"] for row in types if row["count"]}
        assert Counter(row["type"] for row in single) == counts
        assert summed(ask.data("/conversions/timeseries", **asked), "event_type", "count") == counts
        cash = summed([row for row in single if row["type"] == "payment_received"], "type", "value")
        assert sum(cash.values()) == overview["cash_revenue"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", credit_worlds.SEEDS)
def test_entities_and_the_rest_are_all_there_is_at_every_level(seed: int, model: str, readers: list[Reader]) -> None:
    ask = readers[seed]
    for asked in windows(seed):
        overview = ask.data("/overview", **asked)["current"]
        for level in LEVELS:
            rows = ask.pages("/campaigns", model=model, level=level, **asked)
            rest = ask.data("/campaigns/unattributed", model=model, level=level, **asked)
            total = rest["profile_total"]
            assert sum(row["outcome_value"] for row in rows) + rest["outcome_value"] == total["outcome_value"]
            assert total["outcome_value"] == overview["cash_revenue"]
            assert total["attributed_outcome_count"] == overview["outcomes"]
            for figure in ("outcome_value", "attributed_outcome_count", "outcome_count"):
                assert sum(reason[figure] for reason in rest["by_reason"]) == rest[figure]
            if model in SINGLE:
                counted = sum(row["attributed_outcome_count"] for row in rows)
                assert counted + rest["attributed_outcome_count"] == overview["outcomes"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", credit_worlds.SEEDS)
def test_windows_that_follow_each_other_add_up(seed: int, model: str, readers: list[Reader]) -> None:
    ask, middle = readers[seed], FIRST + timedelta(days=9 + seed)
    for level in LEVELS:
        both = [
            row
            for part in (window(FIRST, middle), window(middle + timedelta(days=1), LAST))
            for row in ask.pages("/campaigns", model=model, level=level, **part)
        ]
        whole = ask.pages("/campaigns", model=model, level=level, **window(FIRST, LAST))
        for figure in SUMMED:
            assert summed(both, "campaign_id", figure) == summed(whole, "campaign_id", figure), (level, figure)


@pytest.mark.parametrize("seed", credit_worlds.SEEDS)
def test_journeys_of_payments_add_up_to_the_campaigns_and_campaigns_to_platforms(
    seed: int, readers: list[Reader]
) -> None:
    ask, asked = readers[seed], window(FIRST, LAST)
    single = ask.pages("/conversions/list", **asked)
    journeys = [ask.data(f"/conversions/{row['conversion_id']}/journey") for row in single if row["touches"]]
    assert len(journeys) > 9
    for model in MODELS:
        told: dict[str, Decimal] = defaultdict(Decimal)
        for journey in journeys:
            for touch in journey["touches"] if journey["conversion"]["is_cash"] else ():
                told[touch["campaign_id"] or "none"] += touch["values"][model]
        rows = ask.pages("/campaigns", model=model, level="campaign", **asked)
        of_entities = {entity: value for entity, value in something(told).items() if entity != "none"}
        assert of_entities == summed(rows, "campaign_id", "outcome_value"), model
        by_platform = summed(rows, "platform", "outcome_value")
        for platform in ask.data("/campaigns/platform-comparison", model=model, **asked)["platforms"]:
            rest = Decimal(platform["unassigned_cash_revenue"])
            ours = by_platform.get(platform["platform"], 0) + rest
            assert Decimal(platform["service_cash_revenue"]) == ours, (model, platform["platform"])


@pytest.mark.parametrize("seed", payment_worlds.SEEDS)
def test_payments_are_told_as_paid_and_taken_back_and_their_cash_is_that_of_customers_and_campaigns(
    seed: int, published: Settings
) -> None:
    world, url = payment_worlds.world(seed), published.operational_url
    of, scopes = accounts.profile(url, currency=world.currency, profile_id=world.id), {*DEFAULT_SCOPES}
    ask = Reader(
        create_app(published).test_client(), url, accounts.secret(url, of, scopes={*scopes, Scope.CUSTOMERS_READ})
    )
    told = {row["payment_ref"]: row for row in ask.pages("/payments")}
    for order in world.orders:
        rows = [told.pop(part.ref) for part in order.parts]
        assert sum(Decimal(row["value"]) - Decimal(row["refunded_value"]) for row in rows) == order.net, order
    assert not told
    day = payment_worlds.START.date()
    asked = window(day, day)
    cash = ask.data("/overview", **asked)["current"]["cash_revenue"]
    assert cash == sum(row["value"] for row in ask.pages("/conversions/list", **asked))
    assert cash == sum(row["cash_revenue"] for row in ask.pages("/customers", **asked))
    assert cash == ask.data("/campaigns/unattributed", level="ad", **asked)["profile_total"]["outcome_value"]
