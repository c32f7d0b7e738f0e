"""Changed settings reach every figure with the next build, and the recompute says so (case 50)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.scopes import DEFAULT_SCOPES, Scope
from api.snapshot import snapshots
from orchestration.importer import import_file
from orchestration.lake import Lake
from orchestration.pipeline import Outcome, run_job
from orchestration.quarantine import counted
from tests.api.conftest import Caller
from tests.factories.deployments import application, migrate
from tests.fixtures.waiting_dbt import waiting_dbt
from touchledger import settings as settings_module
from touchledger.accounts import create_profile, mint_key
from touchledger.settings import Settings

WINDOW = {"date_from": "2026-03-01", "date_to": "2026-03-31"}
SETS = {
    "campaigns": "platform,campaign_id,ad_account_id,name,status\nmeta,c1,act_1,Old,ACTIVE\nmeta,c2,act_1,New,ACTIVE\n",
    # ann clicked 60 days before she paid; bob clicked a day before, and came back from the payment page
    "touches": "touch_key,occurred_at,anonymous_id,channel,origin,ad_platform,campaign_id,referrer_host\n"
    "t1,2026-01-09T12:00:00Z,ann,web,web,meta,c1,\n"
    "t2,2026-03-09T12:00:00Z,bob,web,web,meta,c2,\n"
    "t3,2026-03-10T11:59:00Z,bob,web,web,,,eu.pay.example\n",
    "conversions": "conversion_key,occurred_at,anonymous_id,conversion_type,value,currency,payment_ref,source\n"
    "k1,2026-03-10T12:00:00Z,ann,payment_received,100.00,EUR,test:1,payments\n"
    "k2,2026-03-10T12:00:00Z,bob,payment_received,50.00,EUR,test:2,payments\n",
}


@dataclass
class Shop:
    """A deployment of one profile, and a caller that may change its settings."""

    settings: Settings
    caller: Caller

    def build(self) -> None:
        assert self.attempt().problems == []

    def attempt(self) -> Outcome:
        with waiting_dbt():
            return run_job(self.settings, "build")

    def answer(self, path: str) -> tuple[Any, str]:
        response = self.caller.get(path, query_string=WINDOW)
        assert response.status_code == 200, response.text
        return response.get_json()["data"], response.headers["ETag"]

    def cash(self) -> dict[str, float]:
        rows, _ = self.answer("/campaigns")
        return {row["campaign_name"]: row["outcome_value"] for row in rows}

    def coverage(self) -> dict[str, float]:
        data, _ = self.answer("/overview")
        return {row["reason"]: row["cash_revenue"] for row in data["current"]["coverage"]["by_reason"]}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    home = tmp_path_factory.mktemp("shop")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHLEDGER_HOME", str(home))
        settings_module.load.cache_clear()
        settings = settings_module.load()
        migrate(settings)
        lake = Lake(settings.lake)
        lake.prepare()
        profile = create_profile(settings, name="p", timezone="UTC", currency="EUR")
        for dataset, text in SETS.items():
            _import(settings, lake, dataset, home / f"{dataset}.csv", text, profile)
        scopes = [*DEFAULT_SCOPES, Scope.ATTRIBUTION_WRITE]
        key = mint_key(settings, profile_id=profile, scopes=[scope.value for scope in scopes], name="test")
        yield Shop(settings, Caller(application(settings).test_client(), key))
        snapshots(settings).close()
    settings_module.load.cache_clear()


def _import(settings: Settings, lake: Lake, dataset: str, path: Path, text: str, profile: str) -> None:
    path.write_text(text)
    done = import_file(settings.operational_url, lake, dataset=dataset, path=path, profile_id=profile)
    assert done.rows_quarantined == 0, counted(lake, dataset)


def test_lookback_and_payment_hosts_change_all_history_with_the_next_build(shop: Shop) -> None:
    shop.build()
    assert shop.cash() == {"Old": 100.0}
    assert shop.coverage()["other_channel"] == 50.0
    _, tag = shop.answer("/overview")
    known = {"If-None-Match": tag}

    changed = shop.caller(
        "PUT", "/attribution/settings", json={"lookback_days": 30, "payment_hosts": ["pay.example"]}
    ).get_json()["data"]
    recompute = f"/attribution/recompute/{changed['recompute']['recompute_id']}"
    assert shop.caller.get(recompute).get_json()["data"]["status"] == "queued"
    assert shop.caller.get("/overview", query_string=WINDOW, headers=known).status_code == 304
    assert shop.cash() == {"Old": 100.0}

    shop.build()
    assert shop.cash() == {"New": 50.0}
    assert shop.coverage()["no_touch"] == 100.0
    assert shop.coverage()["other_channel"] == 0.0
    _, new_tag = shop.answer("/overview")
    assert changed["settings_version"] in new_tag
    assert changed["settings_version"] not in tag
    assert shop.caller.get("/overview", query_string=WINDOW, headers=known).status_code == 200
    told = shop.caller.get(recompute).get_json()["data"]
    assert (told["status"], told["expected_at"]) == ("published", None)
    assert shop.caller.get("/overview", query_string=WINDOW).get_json()["meta"]["snapshot_id"] == told["snapshot_id"]


def test_a_build_that_ends_badly_fails_the_recompute_it_took_up(shop: Shop) -> None:
    asked = shop.caller.post("/attribution/recompute", json={}).get_json()["data"]["recompute_id"]
    broken = shop.settings.lake / "raw" / "touches" / "broken.parquet"
    broken.write_bytes(b"not parquet")
    try:
        assert not shop.attempt().success
    finally:
        broken.unlink()
    assert shop.caller.get(f"/attribution/recompute/{asked}").get_json()["data"]["status"] == "failed"
    assert shop.cash() == {"New": 50.0}
