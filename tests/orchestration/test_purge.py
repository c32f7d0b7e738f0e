"""Purges of archived profiles: which files go, what is dropped when, and what starts the build."""

from __future__ import annotations

import math
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy as sa

from api import db
from api.models import Connection, IngestedRecord, Profile, Purge
from api.purge import retire
from connectors.errors import Revoked
from orchestration import pull_round, purge
from orchestration.importer import CannotImportError, import_file
from orchestration.ingested import land_ingested
from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.pull_round import Round
from orchestration.sensors import purges_waiting
from tests.factories import accounts, served
from touchledger.settings import Settings


@pytest.fixture
def lake(settings: Settings) -> Lake:
    found = Lake(settings.lake)
    found.prepare()
    return found


def fill(settings: Settings, lake: Lake, profile: Profile) -> None:
    """A landed record, one that is quarantined, and a file in the inbox."""
    good = {"touch_key": "t", "occurred_at": "2026-03-01T00:00:00Z", "url": "https://shop.example/?utm_source=x"}
    with db.transaction(settings.operational_url) as session:
        for key, record in (("t", good), ("bad", {"touch_key": "bad"})):
            sent = {"dataset": "touches", "record_key": key, "fingerprint": "f", "record": record}
            session.add(IngestedRecord(profile_id=profile.id, **sent))
    land_ingested(settings.operational_url, lake)
    dropped = settings.inbox / profile.id / "touches" / "late.csv"
    dropped.parent.mkdir(parents=True)
    dropped.write_text("touch_key\n")


def files_of(settings: Settings, profile: Profile) -> set[str]:
    roots = {"raw": settings.lake / "raw", "quarantine": settings.lake / "quarantine", "inbox": settings.inbox}
    return {name for name, root in roots.items() if any(profile.id in path.parts for path in root.rglob("*.*"))}


def archive(settings: Settings, profile: Profile) -> None:
    with db.transaction(settings.operational_url) as session:
        retire(session, [profile.id], at=db.now())


def purges(settings: Settings) -> list[tuple[bool, bool]]:
    with db.transaction(settings.operational_url) as session:
        found = session.scalars(sa.select(Purge)).all()
    return [(one.files_removed_at is not None, one.completed_at is not None) for one in found]


def test_the_files_of_an_archived_profile_go_and_no_others(settings: Settings, lake: Lake) -> None:
    gone, kept = (accounts.profile(settings.operational_url, name=name) for name in ("Gone", "Kept"))
    for profile in (gone, kept):
        fill(settings, lake, profile)
    assert files_of(settings, gone) == {"raw", "quarantine", "inbox"}
    assert purge.purge_waiting(settings, lake) == []
    settings.warehouse.write_text("pages of rows that were deleted")
    archive(settings, gone)
    assert purge.purge_waiting(settings, lake) == [gone.id]
    assert files_of(settings, gone) == set()
    assert files_of(settings, kept) == {"raw", "quarantine", "inbox"}
    assert not settings.warehouse.exists()
    assert purges(settings) == [(True, False)]
    lake.prepare()
    assert [one.profile_id for one in lake.batches("touches")] == [kept.id]


def test_what_came_in_beside_the_archive_goes_too(settings: Settings, lake: Lake) -> None:
    profile = accounts.profile(settings.operational_url)
    archive(settings, profile)
    fill(settings, lake, profile)
    purge.purge_waiting(settings, lake)
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(IngestedRecord)).all() == []
    assert files_of(settings, profile) == set()


def test_what_a_pull_landed_after_the_purge_opens_it_again(settings: Settings, lake: Lake) -> None:
    profile = accounts.profile(settings.operational_url)
    archive(settings, profile)
    purge.purge_waiting(settings, lake)
    assert purge.complete_purges(settings) == [profile.id]
    older = served.publish(settings.published, {}, token=1)
    lake.land(dataset="touches", profile_id=profile.id, source="late", batch="b", records=[])
    # a build that read it
    settings.warehouse.write_text("pages of rows that were deleted")
    assert purge.purge_waiting(settings, lake) == [profile.id]
    assert files_of(settings, profile) == set()
    assert not settings.warehouse.exists()
    served.publish(settings.published, {}, token=2, snapshot_id="ffffffff-0000-4000-8000-000000000000")
    assert purge.complete_purges(settings) == [profile.id]
    assert not (settings.published / f"served-{older}.duckdb").exists()
    assert purges(settings) == [(True, True)]


def test_a_file_that_was_only_dropped_for_an_archived_profile_costs_no_warehouse(
    settings: Settings, lake: Lake
) -> None:
    profile = accounts.profile(settings.operational_url)
    archive(settings, profile)
    purge.purge_waiting(settings, lake)
    dropped = settings.inbox / profile.id / "touches" / "late.csv"
    dropped.parent.mkdir(parents=True)
    dropped.write_text("touch_key\n")
    settings.warehouse.write_text("whatever was built")
    assert purge.purge_waiting(settings, lake) == []
    assert settings.warehouse.exists() and not dropped.exists()


def test_a_publication_ends_the_purges_it_was_built_without_and_drops_older_snapshots(
    settings: Settings, lake: Lake
) -> None:
    first, second = (accounts.profile(settings.operational_url) for _ in range(2))
    older = served.publish(settings.published, {}, token=1)
    archive(settings, first)
    purge.purge_waiting(settings, lake)
    # archived while the build is under way: the next one's matter
    archive(settings, second)
    newer = served.publish(settings.published, {}, token=2, snapshot_id="ffffffff-0000-4000-8000-000000000000")
    assert purge.complete_purges(settings) == [first.id]
    assert sorted(purges(settings)) == [(False, False), (True, True)]
    left = [path.name for path in settings.published.glob("served-*.duckdb")]
    assert left == [f"served-{newer}.duckdb"] and older not in left[0]
    assert purge.complete_purges(settings) == []


def test_a_purge_is_completed_only_once_no_older_snapshot_is_left(settings: Settings, lake: Lake) -> None:
    profile = accounts.profile(settings.operational_url)
    served.publish(settings.published, {}, token=1, snapshot_id="1")
    archive(settings, profile)
    purge.purge_waiting(settings, lake)
    served.publish(settings.published, {}, token=2, snapshot_id="2")
    with served.unreadable_pointer(settings.published), pytest.raises(OSError):
        purge.complete_purges(settings)
    assert purges(settings) == [(True, False)]
    assert purge.complete_purges(settings) == [profile.id]
    assert [path.name for path in settings.published.glob("served-*.duckdb")] == ["served-2.duckdb"]
    assert purges(settings) == [(True, True)]


def test_an_archive_starts_one_build_now_and_one_an_hour_until_it_is_done(
    settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = accounts.profile(settings.operational_url)

    def look(cursor: str | None) -> dg.SensorResult | dg.SkipReason:
        with dg.DagsterInstance.ephemeral() as instance:
            found = purges_waiting(dg.build_sensor_context(instance=instance, cursor=cursor))
        assert isinstance(found, (dg.SensorResult, dg.SkipReason))
        return found

    assert isinstance(look(None), dg.SkipReason)
    archive(settings, profile)
    due = look(None)
    assert isinstance(due, dg.SensorResult) and len(due.run_requests or []) == 1
    assert isinstance(look(due.cursor), dg.SkipReason)
    assert isinstance(look("an hour ago"), dg.SensorResult)
    purge.purge_waiting(settings, lake)
    purge.complete_purges(settings)
    assert isinstance(look(None), dg.SkipReason)


def test_an_archived_profile_takes_no_file(settings: Settings, lake: Lake, tmp_path: Path) -> None:
    profile = accounts.profile(settings.operational_url)
    archive(settings, profile)
    file = tmp_path / "touches.csv"
    file.write_text("touch_key,occurred_at\nt,2026-03-01T00:00:00Z\n")
    with pytest.raises(CannotImportError, match="there is no profile"):
        import_file(settings.operational_url, lake, dataset="touches", path=file, profile_id=profile.id)


def test_a_pull_that_fails_does_not_bring_a_disconnected_connection_back(settings: Settings, lake: Lake) -> None:
    profile, today = accounts.profile(settings.operational_url), db.now().date()
    with db.transaction(settings.operational_url) as session:
        made = Connection(profile_id=profile.id, provider="stripe", kind="payments", display_name="Till", token="t")
        made.external_account_id, made.base_url = "a", "https://p"
        session.add(made)
    begun = Round(settings, lake, DayRange(today, today), math.inf, [])._begin(made.id, is_alone=True)
    assert begun is not None
    archive(settings, profile)
    begun[0].failure = Revoked("revoked", "gone")
    pull_round._note(settings, *begun)
    with db.transaction(settings.operational_url) as session:
        assert session.get_one(Connection, made.id).status == "disconnected"
