"""The golden cases as a deployment: each case a profile of its own, all in one lake, judged by one build."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import sqlalchemy as sa
from flask.testing import FlaskClient

from api.app import create_app
from api.credentials import mint_api_key
from api.db import transaction
from api.models import Profile, Workspace
from orchestration.app_sets import land_app_sets
from orchestration.likelihoods import write_likelihoods
from orchestration.publish import publish, take_token
from orchestration.served_tables import served_tables
from tests.dbt_project.project import Project
from tests.end_to_end.served import all_campaigns, answer
from tests.factories.deployments import migrate
from touchledger.settings import Settings

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "cases"
SETS = (
    "campaigns", "ad_sets", "ads", "touches", "ad_referrals", "conversions", "recurring_payments", "ad_delivery",
    "identities",
)  # fmt: skip
EVERY_CASE = "all"
BUILDS = (1, 2)
MODELS = {
    "FT": "first_touch", "LT": "last_touch", "LND": "last_non_direct", "LIN": "linear", "TD": "time_decay",
}  # fmt: skip
NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
PAYMENT_HOST = "pay.example"
ROBOT, TOUCHES, PAYMENTS = "46", 50_000, 2_000

Question = tuple[str, int, str, str, str]
Rows = list[dict[str, str]]


@dataclass(frozen=True)
class Told:
    """What the API answered to one question: rows of GET /campaigns by platform id, and the remainder."""

    rows: dict[str, dict[str, Any]]
    rest: dict[str, Any]


def read(name: str) -> Rows:
    """Rows of one golden file."""
    with (FOLDER / f"{name}.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def questions(line: dict[str, str]) -> Iterator[Question]:
    """The questions that one line of expected.csv answers: case, build, level, window and model."""
    for model in line["models"].split():
        yield line["case"], int(line["build"]), line["level"], line["window"], MODELS[model]


@dataclass(frozen=True)
class Answers:
    """What the API told: by question of expected.csv, and the data by case, path and query of elsewhere.csv."""

    told: dict[Question, Told] = field(default_factory=dict)
    elsewhere: dict[tuple[str, str, str], Any] = field(default_factory=dict)


def asked(home: Path) -> Answers:
    """Land the rows, build and publish, twice; what the API tells after each."""
    project = Project(Settings(home=home))
    migrate(project.settings)
    answers = Answers()
    keys: dict[str, str] = {}
    for build in BUILDS:
        keys |= _set_profiles(project.settings.operational_url, build)
        land_app_sets(project.settings.operational_url, project.lake)
        _land(project, build, sorted(keys))
        project.model()
        write_likelihoods(project.settings)
        publish(project.settings, token=take_token(project.settings.operational_url), tables=served_tables())
        client = create_app(project.settings).test_client()
        answers.told.update((question, _ask(client, keys, question)) for question in _questions_after(build))
    for line in read("elsewhere"):
        told = answer(client, keys[line["case"]], line["path"], **dict(parse_qsl(line["query"])))
        answers.elsewhere[line["case"], line["path"], line["query"]] = told["data"]
    return answers


def profile_id(case: str) -> str:
    """Id of the profile of a case; a second profile of a case has a name after its number."""
    number, _, other = case.partition("_")
    return f"01900000-0000-7000-8000-{'b' if other else 'a'}{int(number):011d}"


def _set_profiles(url: str, build: int) -> dict[str, str]:
    """Make or change the profiles of a build; a key for each new one."""
    keys = {}
    with transaction(url) as session:
        workspace = session.scalars(sa.select(Workspace)).one_or_none() or Workspace(name="Cases")
        session.add(workspace)
        session.flush()
        for row in (row for row in read("profiles") if int(row["build"]) == build):
            known = session.get(Profile, profile_id(row["case"]))
            profile = known or Profile(
                id=profile_id(row["case"]), workspace_id=workspace.id, name=row["case"], payment_hosts=[PAYMENT_HOST]
            )
            profile.timezone, profile.reporting_currency = row["time_zone"], row["currency"]
            profile.lookback_days, profile.half_life_days = int(row["lookback_days"]), int(row["half_life_days"])
            if known is None:
                session.add(profile)
                session.flush()
                keys[row["case"]] = mint_api_key(session, profile_id=profile.id, name="test")[1]
    return keys


def _land(project: Project, build: int, cases: list[str]) -> None:
    for dataset in SETS:
        landed: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in read(dataset):
            record = {name: value for name, value in row.items() if value and name not in ("case", "build")}
            if int(row["build"]) == build:
                for case in cases if row["case"] == EVERY_CASE else [row["case"]]:
                    landed[case].append(record)
        if build == 1 and dataset in ("touches", "conversions"):
            landed[ROBOT] = list(_robot_touches() if dataset == "touches" else _robot_payments())
        for case, records in landed.items():
            project.land(dataset, records, profile_id=profile_id(case), batch=f"build-{build}")


def _robot_touches() -> Iterator[dict[str, Any]]:
    """One touch a second up to noon, each in a session of its own: 49,500 of C, 250 of A, 250 of B."""
    for n in range(TOUCHES):
        left = TOUCHES - n
        campaign = "B" if left <= 250 else "A" if left <= 500 else "C"
        at = {"occurred_at": NOON - timedelta(seconds=left), "session_id": f"s{n}", "person_key": "robot"}
        ids = {"ad_platform": "meta", "campaign_id": campaign, "ad_set_id": f"set{campaign}", "ad_id": f"ad{campaign}"}
        yield {"touch_key": f"t{n:05d}", "channel": "web", "origin": "web", "is_paid": True, **at, **ids}


def _robot_payments() -> Iterator[dict[str, Any]]:
    """One payment of 1.00 a second from noon on."""
    for n in range(PAYMENTS):
        money = {"value": "1.00", "currency": "USD", "payment_ref": f"bank:c{n}", "source": "payments"}
        at = {"occurred_at": NOON + timedelta(seconds=n), "person_key": "robot"}
        yield {"conversion_key": f"c{n}", "conversion_type": "payment_received", **at, **money}


def _questions_after(build: int) -> list[Question]:
    every = [question for line in read("expected") for question in questions(line)]
    return [question for question in dict.fromkeys(every) if question[1] == build]


def _ask(client: FlaskClient, keys: dict[str, str], question: Question) -> Told:
    case, _, level, window, model = question
    date_from, date_to = window.split("..")
    query = {"date_from": date_from, "date_to": date_to, "level": level, "model": model}
    rows = all_campaigns(client, keys[case], **query)
    rest = answer(client, keys[case], "/campaigns/unattributed", **query)["data"]
    return Told({row["platform_id"]: row for row in rows}, rest)
