"""The landing of files as Dagster keeps it: which were not loaded and why, and nothing that they hold of people."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from orchestration.assets.raw_files import landing_files
from orchestration.lake import Lake
from orchestration.resources import Deployment
from tests.orchestration.test_importer import PROFILE
from tests.orchestration.test_inbox import drop, lake
from touchledger.settings import Settings

__all__ = ["lake"]

ADA = "ada@example.com"


@pytest.fixture
def instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def test_the_history_of_runs_tells_files_and_reasons_without_addresses_and_numbers(
    settings: Settings, lake: Lake, instance: dg.DagsterInstance
) -> None:
    drop(settings, "no header.csv", f"{ADA},+14155550123\n")
    drop(settings, "of ada@example.com.csv", "klicks\n1\n")
    drop(settings, "of bob@example.com.csv", "klicks\n2\n")
    drop(settings, "of ada@example.com.csv", "klicks\n1\n", dataset="touchs")
    result = dg.materialize([landing_files], instance=instance, resources={"deployment": Deployment()})
    (kept,) = result.asset_materializations_for_node("landing__files")
    left, rejected = (kept.metadata[name].value for name in ("files not loaded", "rejected files"))
    assert [len(left), len(rejected)] == [4, 3]
    assert f"{PROFILE}/touches/no header.csv" in left
    assert [reason for reason in rejected.values() if "klicks" in reason]
    # the page of the asset was green, whatever lay there
    check, rows = result.get_asset_check_evaluations()
    assert (rows.check_name, rows.passed) == ("rows", True)
    assert (check.check_name, check.passed, check.severity) == ("inbox", False, dg.AssetCheckSeverity.WARN)
    assert check.description == "Files that were not loaded: 4"
    assert named(check) == left
    events = repr([dg.serialize_value(entry) for entry in instance.all_logs(result.run_id)])
    assert [mark for mark in ("ada@", "bob@", "14155550123") if mark in events] == []


def named(check: dg.AssetCheckEvaluation) -> dict[object, object]:
    """The reasons by file of a check's table, which Dagster's pages show at once, as they do no JSON."""
    table = check.metadata["files"]
    assert isinstance(table, dg.TableMetadataValue)
    return {one.data["file"]: one.data["reason"] for one in table.records}


def test_the_calendars_of_ad_accounts_in_files_are_landed(
    settings: Settings, lake: Lake, instance: dg.DagsterInstance
) -> None:
    # without them an account's day was over when it was for the profile, half a day early or late
    header = "platform,ad_account_id,currency,timezone"
    drop(settings, "a.csv", f"{header}\nmeta,1,USD,America/Lima\nmeta,2,USD,Asia/Kathmandu\n", dataset="ad_accounts")
    drop(settings, "b.csv", f"{header}\nmeta,3,USD,Asia/Kathmandu\nmeta,4,USD,Moon/Sea\n", dataset="ad_accounts")
    for _ in range(2):
        result = dg.materialize([landing_files], instance=instance, resources={"deployment": Deployment()})
        passed = {check.check_name: check.passed for check in result.get_asset_check_evaluations()}
        # nobody knows the zone of one row
        assert passed == {"inbox": True, "rows": False}
        assert [one.batch for one in lake.batches("calendar")] == ["America.Lima", "Asia.Kathmandu"]


def test_rows_in_quarantine_warn_until_the_next_file_of_their_data_set_is_good(
    settings: Settings, lake: Lake, instance: dg.DagsterInstance
) -> None:
    def told() -> dict[object, object]:
        result = dg.materialize([landing_files], instance=instance, resources={"deployment": Deployment()})
        (_, check) = result.get_asset_check_evaluations()
        assert (check.check_name, check.severity) == ("rows", dg.AssetCheckSeverity.WARN)
        assert check.passed is ("files" not in check.metadata)
        return named(check) if check.metadata else {}

    header = "platform,ad_id,date,ad_account_id,ad_set_id,campaign_id,currency,spend,impressions,clicks\n"
    # saved by a spreadsheet of another country: each row was refused, and all pages were green
    drop(
        settings,
        "ada@example.com 1.csv",
        header + 'meta,1,2026-11-01,a,s,c,EUR,"1.234,56",1,1\n',
        dataset="ad_delivery",
    )
    reason = "1 of 1 rows of ad_delivery; the first: spend: not a plain decimal number like 1234.50"
    for _ in range(2):
        ((name, why),) = told().items()
        assert (str(name).endswith(" 1.csv"), "ada@" in str(name), why) == (True, False, reason)
    drop(settings, "2.csv", header + "meta,1,2026-11-01,a,s,c,EUR,1234.56,1,1\n", dataset="ad_delivery")
    assert told() == {}
    drop(settings, "3.csv", header + "meta,2,2026-11-01,a,s,c,EUR,-1,1,1\n", dataset="ad_delivery")
    drop(settings, "4.csv", header + "meta,3,2026-11-01,a,s,c,EUR,1,1,1\n", dataset="ad_delivery")
    assert told() == {"3.csv": "1 of 1 rows of ad_delivery; the first: spend: negative"}
    assert told() == {}
