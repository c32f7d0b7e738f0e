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
from tests.fixtures.sandbox import TODAY, served
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


def _told(edges: dict[str, list[dict[str, Any]]], account: dict[str, str], path: str) -> dict[str, Any]:
    edge = path.rpartition("/")[2]
    return {"data": edges[edge]} if edge in edges else account
