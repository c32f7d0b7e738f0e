"""The API keeps what openapi.json says, whatever a generator sends: schemathesis, in-process, with a fixed seed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import sqlalchemy as sa
from flask import Flask
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import positive_data_acceptance

from api import db
from api.app import create_app
from api.migrate import upgrade
from api.models import RateUse
from api.scopes import Scope
from api.snapshot import snapshots
from tests.factories import accounts, served
from touchledger.settings import Settings

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "campaigns"
GOLDEN_PROFILE = "01900000-0000-7000-8000-00000000aaaa"
EXAMPLES = int(os.environ.get("TOUCHLEDGER_FUZZ_EXAMPLES", "12"))
NOISE = list(HealthCheck)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    made = Settings(home=tmp_path_factory.mktemp("conformance"))
    upgrade(made.operational_url)
    yield made
    snapshots(made).close()
    db.close_engines(made.operational_url)


@pytest.fixture(scope="module")
def app(deployment: Settings) -> Flask:
    served.publish(deployment.published, served.from_csv(GOLDEN))
    return create_app(deployment)


@pytest.fixture(scope="module")
def secret(deployment: Settings) -> str:
    return accounts.secret(
        deployment.operational_url,
        accounts.profile(deployment.operational_url, profile_id=GOLDEN_PROFILE),
        scopes=list(Scope),
    )


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_answers_conform_to_the_document(
    app: Flask, deployment: Settings, secret: str, mode: schemathesis.GenerationMode
) -> None:
    load_all_checks()
    schema = schemathesis.openapi.from_wsgi("/openapi.json", app)
    checked = 0
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=NOISE)
        @given(case=operation.as_strategy(generation_mode=mode))
        def conforms(case: schemathesis.Case) -> None:
            with db.transaction(deployment.operational_url, durable=False) as session:
                session.execute(sa.delete(RateUse))
            # that one date must not be after the other is a rule no parameter schema can state
            case.call_and_validate(headers=headers(secret), excluded_checks=[positive_data_acceptance])

        # nothing wrong can be sent to an operation that takes nothing
        if mode is schemathesis.GenerationMode.POSITIVE or operation.query:
            conforms()
            checked += 1
    assert checked >= 3


@pytest.mark.parametrize("level", ["campaign", "ad_set", "ad"])
def test_answers_with_rows_conform_to_the_document(app: Flask, secret: str, level: str) -> None:
    schema = schemathesis.openapi.from_wsgi("/openapi.json", app)
    window = {"date_from": "2026-03-01", "date_to": "2026-03-02", "level": level}
    rows = call(schema, secret, "/api/v1/campaigns", window)
    assert rows
    ids = ",".join(row["campaign_id"] for row in rows[:10])
    assert call(schema, secret, "/api/v1/campaigns/trend", {**window, "entity_ids": ids})
    assert call(schema, secret, "/api/v1/campaigns/unattributed", {**window, "level": "campaign"})
    assert call(schema, secret, "/api/v1/campaigns/platform-comparison", window)["rows"]
    assert call(schema, secret, "/api/v1/ads/trend", {name: window[name] for name in ("date_from", "date_to")})


def call(schema: schemathesis.BaseSchema, secret: str, path: str, query: dict[str, str]) -> Any:
    response = schema[path]["GET"].Case(query=query).call_and_validate(headers=headers(secret))
    assert response.status_code == 200
    return response.json()["data"]


def headers(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"}
