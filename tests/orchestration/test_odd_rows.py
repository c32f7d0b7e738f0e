"""Answers whose members are of another kind than they ever were: a pull may end over them, never the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Response, request

from connectors.errors import Malformed
from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.quarantine import counted
from orchestration.sync import sync_kind
from sandbox.app import create_sandbox
from sandbox.shopify import Bucket
from tests.connectors.walks import SYNC_SINCE
from tests.factories import accounts, connected
from tests.fixtures.sandbox import TODAY, RunningSandbox, served
from touchledger.settings import Settings

Change = Callable[[Any], None]


@pytest.fixture
def lake(settings: Settings) -> Lake:
    lake = Lake(settings.lake)
    lake.prepare()
    return lake


def pull(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, ends: str | tuple[str, ...], change: Change
) -> BaseException | None:
    """Pull an ad account whose answers at paths with such an ending are changed on their way; gives what ended it."""
    app = create_sandbox(sandbox.holder, Bucket(maximum=1e9))

    @app.after_request
    def changed(response: Response) -> Response:
        if request.path.endswith(ends):
            body = response.get_json()
            change(body)
            response.set_data(json.dumps(body))
        return response

    with served(app) as url:
        profile = accounts.profile(settings.operational_url)
        connected.to_meta(settings.operational_url, profile, url, synced_through=SYNC_SINCE)
        (pulled,) = sync_kind(settings, lake, "ad_platform", DayRange(SYNC_SINCE, TODAY))
    return pulled.failure


@pytest.mark.parametrize(("number", "reason"), [(17, "expected text, not a number"), (None, "missing")])
def test_an_ad_whose_id_is_of_another_kind_lies_in_quarantine(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, number: int | None, reason: str
) -> None:
    # the days were put in order by ids that nobody had looked at, and the run ended over it with all its accounts
    def change(body: Any) -> None:
        for row in body["data"][:1]:
            row.update({"ad_id": number} if "ad_id" in row else {})

    assert pull(settings, sandbox, lake, "/insights", change) is None
    assert [(one.field, one.reason) for one in counted(lake, "ad_delivery")] == [("ad_id", reason)]
    assert sum(batch.rows_loaded for batch in lake.batches("ad_delivery")) > 1


def test_a_study_that_cannot_be_read_keeps_nothing_else_from_landing_nor_a_long_link_an_ad(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    # studies came before reach, and one that is odd once is so every night, and none of the others came; ads of long
    # links had lost their names
    link = f"https://shop.example/?{'x' * 2048}"
    odd = {"start_time": "some day", "object_story_spec": {"link_data": {"link": link}}}

    def change(body: Any) -> None:
        body["data"][0].update(odd)

    assert isinstance(pull(settings, sandbox, lake, ("/ad_studies", "/adcreatives"), change), Malformed)
    assert [counted(lake, dataset) for dataset in ("ads", "creatives")] == [[], []]
    asked = [study for study in sandbox.world.studies if study.account_id == sandbox.world.accounts[0].id]
    assert sum(batch.rows_loaded for batch in lake.batches("experiments")) == len(asked) - 1 > 0
    assert sum(batch.rows_loaded for batch in lake.batches("entity_reach")) > 1


@pytest.mark.parametrize("zone", [["Europe/Madrid"], {"name": "Europe/Madrid"}])
def test_an_account_whose_zone_is_no_text_lies_in_quarantine_and_its_delivery_comes(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, zone: Any
) -> None:
    def change(body: Any) -> None:
        body["timezone_name"] = zone

    failure = pull(settings, sandbox, lake, f"act_{sandbox.world.accounts[0].id}", change)
    # of studies nobody could tell the days
    assert isinstance(failure, Malformed)
    assert [one.field for one in counted(lake, "ad_accounts")] == ["timezone"]
    assert sum(batch.rows_loaded for batch in lake.batches("ad_delivery")) > 1
