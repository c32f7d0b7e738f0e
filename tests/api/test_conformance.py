"""The API keeps what openapi.json says, whatever a generator sends: schemathesis, in-process, with a fixed seed."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import sqlalchemy as sa
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from api import db
from api.app import create_app
from api.models import RateUse
from api.scopes import Scope
from api.snapshot import snapshots
from tests.factories import accounts, people, served
from tests.factories.deployments import migrate
from touchledger.settings import Settings

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "campaigns"
GOLDEN_PROFILE = "01900000-0000-7000-8000-00000000aaaa"
EXAMPLES = int(os.environ.get("TOUCHLEDGER_FUZZ_EXAMPLES", "4"))
NOISE = list(HealthCheck)
# characters of each failure that are shown
MOST_TOLD = 1500
# that one date must not be after the other is a rule no parameter schema can state
UNSTATED = [positive_data_acceptance, not_a_server_error]


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    made = Settings(home=tmp_path_factory.mktemp("conformance"))
    migrate(made)
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


@dataclass(frozen=True)
class Callers:
    """A workspace and a profile of their own, and who may call about them: one header per scheme of the document."""

    workspace_id: str
    profile_id: str
    headers: dict[str, str]

    def header_for(self, operation: Mapping[str, Any]) -> dict[str, str]:
        """The header of the first scheme that the operation names; a public one gets none."""
        named = [scheme for entry in operation.get("security", []) for scheme in entry]
        return {"Authorization": self.headers[named[0]]} if named else {}


def callers(url: str) -> Callers:
    """New ones: what one operation archives, revokes or signs out is not missed by the next."""
    profile, person = accounts.profile(url), people.user(url)
    people.member(url, person, profile.workspace_id)
    app = people.app(url, workspace_id=profile.workspace_id)
    people.delegate(url, app.app, profile)
    bearers = {
        "apiKey": accounts.secret(url, profile, scopes=list(Scope), app_id=app.app.id),
        "session": people.session_of(url, person),
        "userToken": people.token_of(url, person, grants=["mcp:read", "mcp:read_pii", "mcp:write"]),
    }
    headers = {scheme: f"Bearer {token}" for scheme, token in bearers.items()} | {"app": app.header}
    return Callers(profile.workspace_id, profile.id, headers)


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_answers_conform_to_the_document(app: Flask, deployment: Settings, mode: schemathesis.GenerationMode) -> None:
    load_all_checks()
    schema = schemathesis.openapi.from_wsgi("/openapi.json", app)
    checked, broken = 0, {}
    for found in schema.get_all_operations():
        operation = found.ok()
        # nothing wrong can be sent to an operation that takes nothing
        if mode is schemathesis.GenerationMode.POSITIVE or operation.query:
            checked += 1
            try:
                conforms(operation, mode, deployment)
            except (AssertionError, ExceptionGroup) as problem:
                broken[operation.label] = "".join(traceback.format_exception_only(problem))[:MOST_TOLD]
    assert checked >= 3
    assert broken == {}, "\n".join(f"{label}\n{told}" for label, told in broken.items())


def conforms(operation: Any, mode: schemathesis.GenerationMode, deployment: Settings) -> None:
    """Ask one operation with what a generator makes, and check each answer."""
    asking = callers(deployment.operational_url)
    header = {**asking.header_for(operation.definition.raw), "Accept-Encoding": "identity"}

    @settings(max_examples=EXAMPLES, suppress_health_check=NOISE)
    @given(case=operation.as_strategy(generation_mode=mode), own=st.integers(0, 3))
    def ask(case: schemathesis.Case, own: int) -> None:
        with db.transaction(deployment.operational_url, durable=False) as session:
            session.execute(sa.delete(RateUse))
        if own:
            address(case, asking, in_query=mode is schemathesis.GenerationMode.POSITIVE)
        response = case.call_and_validate(headers=header, excluded_checks=[*UNSTATED, *_right_again(case)])
        # what is not configured here answers 501 or 503, and says so in the document
        assert response.status_code < 500 or response.status_code in {501, 503}

    ask()


def address(case: schemathesis.Case, asking: Callers, *, in_query: bool) -> None:
    """Mostly ask about what the caller owns: made-up ids would end every question at the door.

    A path or a query that is wrong on purpose stays as it is.
    """
    own = {"workspace_id": asking.workspace_id, "profile_id": asking.profile_id}
    for name in own.keys() & (case.path_parameters or {}).keys():
        if not _is_wrong(case, ParameterLocation.PATH):
            case.path_parameters[name] = own[name]
    if in_query and "profile_id" in {parameter.name for parameter in case.operation.query}:
        case.query = {**(case.query or {}), "profile_id": asking.profile_id}


def _right_again(case: schemathesis.Case) -> list[Any]:
    """A request of which only headers were wrong is right again with the caller's own."""
    sent = (ParameterLocation.PATH, ParameterLocation.QUERY, ParameterLocation.BODY)
    return [] if any(_is_wrong(case, part) for part in sent) else [negative_data_rejection]


def _is_wrong(case: schemathesis.Case, part: ParameterLocation) -> bool:
    return case.meta is not None and case.meta.is_negative_at(part)


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
