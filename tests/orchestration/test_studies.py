"""A study that cannot be read any more stays as it landed, beside those that can."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq
from flask import Flask

from connectors.meta_ads import MetaAds
from connectors.transport import Transport
from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.pulls import Pull
from orchestration.studies import land_studies
from sandbox.faces import TOKENS
from tests.factories import accounts, connected
from tests.fixtures.sandbox import TODAY, RunningSandbox, served
from touchledger.settings import Settings

CELL = {"id": "7", "name": "All", "control_percentage": 20, "campaigns": {"data": [{"id": "5"}, {"id": "6"}]}}


def study(number: str, **more: Any) -> dict[str, Any]:
    told = {"id": number, "name": f"Study {number}", "type": "LIFT", "start_time": "2026-11-01T00:00:00+0000"}
    return {**told, "updated_time": "2026-11-02T00:00:00+0000", **more}


def landed(lake: Lake, dataset: str, name: str) -> list[tuple[str, str]]:
    rows = [row for batch in lake.batches(dataset) for row in pq.read_table(batch.path).to_pylist()]
    return sorted((row["platform_study_id"], row[name]) for row in rows)


def test_it_stays_as_it_landed_until_it_can_be_read_again_or_is_gone(settings: Settings) -> None:
    edges: dict[str, list[dict[str, Any]]] = {"cells": [CELL], "objectives": []}
    account = {"currency": "USD", "timezone_name": "UTC"}
    meta, lake = Flask(__name__), Lake(settings.lake)
    meta.add_url_rule("/meta/<path:path>", view_func=lambda path: _told(edges, account, path))
    lake.prepare()
    with served(meta) as url:
        connection = connected.to_meta(settings.operational_url, accounts.profile(settings.operational_url), url)
        pull = Pull(settings, connection, lake, TODAY, DayRange(TODAY, TODAY))
        platform = MetaAds(f"{url}/meta", TOKENS["meta"], connection.external_account_id, Transport())
        edges["ad_studies"] = [study("1"), study("2")]
        assert land_studies(pull, platform) is None
        edges["ad_studies"] = [study("1", name="Another", start_time="some day"), study("2"), study("3")]
        odd = land_studies(pull, platform)
        assert (odd and odd.reason) == "malformed"
        assert landed(lake, "experiments", "name") == [("1", "Study 1"), ("2", "Study 2"), ("3", "Study 3")]
        arms = [(number, '["5","6"]') for number in "112233"]
        assert landed(lake, "experiment_arms", "entity_ids") == arms
        edges["ad_studies"] = [study("3")]
        assert land_studies(pull, platform) is None
        assert landed(lake, "experiments", "name") == [("3", "Study 3")]


def test_one_that_is_refused_stays_as_it_landed_and_keeps_no_other_from_coming(
    settings: Settings, sandbox: RunningSandbox
) -> None:
    # of a study that another business shares the token may see the name alone: no study came any more
    lake = Lake(settings.lake)
    lake.prepare()
    connection = connected.to_meta(settings.operational_url, accounts.profile(settings.operational_url), sandbox.url)
    pull = Pull(settings, connection, lake, TODAY, DayRange(TODAY, TODAY))
    with Transport() as transport:
        platform = MetaAds(f"{sandbox.url}/meta", TOKENS["meta"], connection.external_account_id, transport)
        assert land_studies(pull, platform) is None
        whole = [landed(lake, "experiments", "name"), landed(lake, "experiment_arms", "arm_id")]
        shared = whole[0][0][0]
        sandbox.plan({"route": f"/{shared}/", "kind": "code", "code": "200", "status": 403, "times": None})
        found = platform.studies(TODAY)
        assert (found.unread, found.odd) == ([shared], None)
        assert [row["platform_study_id"] for row in found.rows["experiments"]] != []
        assert land_studies(pull, platform) is None
    assert [landed(lake, "experiments", "name"), landed(lake, "experiment_arms", "arm_id")] == whole


def _told(edges: dict[str, list[dict[str, Any]]], account: dict[str, str], path: str) -> dict[str, Any]:
    edge = path.rpartition("/")[2]
    return {"data": edges[edge]} if edge in edges else account
