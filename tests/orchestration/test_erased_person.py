"""An erasure that is broken off goes on with the person it began with, of whom the lake no longer tells."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from api.db import close_engines, now, transaction
from api.erased import Person
from api.erased_records import remember
from api.models import Erasure, Import
from api.v1.customers.erasing import NOTHING_YET
from api.v1.events.ingest import accept
from api.warehouse_ids import identifier_id
from orchestration.app_sets import land_app_sets
from orchestration.erased_files import rewrite_inbox
from orchestration.erasure import ErasureError, erase_waiting
from orchestration.importer import digest_of, lost_imports
from orchestration.inbox import scan_inbox
from orchestration.ingested import land_ingested
from orchestration.lake import Lake
from tests.factories import accounts, forgotten
from tests.factories.deployments import migrate
from tests.fixtures.processes import PROCESSES
from tests.fixtures.waiting_dbt import waiting_dbt
from touchledger import settings as settings_module
from touchledger.accounts import create_profile
from touchledger.settings import Settings

# the person is the first on a device that neighbours use after; and sold something to whoever came by that click
KIOSK = "touch_key,occurred_at,channel,origin,anonymous_id,email\n" + "".join(
    f"kiosk{n},2026-03-0{n}T12:00:00Z,web,web,device-kiosk,neighbour{n}@example.com\n" for n in range(1, 5)
)
CLICKED = "touch_key,occurred_at,channel,origin,click_id,click_id_type\nc9,2026-03-09T09:00:00Z,web,web,{},fbclid\n"


@dataclass
class Asked:
    """A deployment in which somebody waits to be erased: everything has landed."""

    settings: Settings
    lake: Lake
    profile_id: str

    def receipt(self) -> Erasure:
        with transaction(self.settings.operational_url) as session:
            return session.scalars(sa.select(Erasure)).one()

    def left(self, *marks: str) -> list[str]:
        folders = (self.settings.lake, self.settings.inbox)
        return [place for folder in folders for place in forgotten.left_of(folder, marks or forgotten.MARKS)]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(tmp_path / "home"))
    settings_module.load.cache_clear()
    settings = settings_module.load()
    settings.home.mkdir()
    migrate(settings)
    url, lake = settings.operational_url, Lake(settings.lake)
    lake.prepare()
    profile_id = create_profile(settings, name="p", timezone="UTC", currency="USD")
    first = forgotten.touch("kiosk0", "01T08:00", email=forgotten.EMAIL, anonymous_id="device-kiosk")
    with transaction(url) as session:
        accept(session, profile_id=profile_id, dataset="touches", records=[first])
    forgotten.fill(settings, profile_id)
    for name, text in (("kiosk.csv", KIOSK), ("clicked.csv", CLICKED.format("click-canary-77"))):
        (settings.inbox / profile_id / "touches" / name).write_text(text)
    land_ingested(url, lake)
    land_app_sets(url, lake)
    assert {one.status for one in scan_inbox(settings, lake)} == {"loaded"}
    with transaction(url) as session:
        waiting = {"reason": "other", "due_at": now(), "secret": "5e" * 32, "counts": {**NOTHING_YET}}
        erasure = Erasure(profile_id=profile_id, **waiting)
        session.add(erasure)
        session.flush()
        ids = [identifier_id(profile_id, "email", forgotten.EMAIL.lower())]
        remember(session, settings.signing_key(), profile_id=profile_id, erasure_id=erasure.id, ids=ids)
    yield Asked(settings, lake, profile_id)
    close_engines(url)
    settings_module.load.cache_clear()


def erase(asked: Asked) -> None:
    with waiting_dbt():
        erase_waiting(asked.settings, asked.lake)


def in_the_way(asked: Asked, place: str) -> Path:
    """A folder where a file is to be written: a fault of the disk at that place."""
    if place == "inbox":
        return forgotten.unfinished(asked.settings.inbox / asked.profile_id / "conversions" / "crm.csv")
    (landed,) = [one.path for one in asked.lake.batches("touches") if one.rows_in == 4]
    return landed.with_name(f".{landed.name}.tmp")


def test_what_kept_dbt_from_finding_the_person_is_told(asked: Asked) -> None:
    # of a full disk the run and the terminal said "people could not be resolved", and no more
    asked.settings.warehouse.mkdir()
    with pytest.raises(ErasureError) as told:
        erase(asked)
    assert re.search(r"could not be found out: .*warehouse\.duckdb.*directory", str(told.value.__cause__), re.S)
    assert asked.receipt().status == "failed"


@pytest.mark.parametrize("place", ["lake", "inbox"])
def test_what_was_renamed_before_it_broke_off_hides_neither_the_rest_nor_who_it_was(asked: Asked, place: str) -> None:
    obstacle = in_the_way(asked, place)
    obstacle.mkdir()
    with pytest.raises(ErasureError):
        erase(asked)
    assert asked.receipt().status == "failed"
    assert asked.left()
    obstacle.rmdir()
    # as the next build begins
    asked.lake.prepare()
    assert scan_inbox(asked.settings, asked.lake) == []
    erase(asked)
    assert asked.left() == []
    done = asked.receipt()
    assert (done.rewritten_at is not None, done.found) == (True, None)
    assert (done.counts["touches_anonymised"], done.counts["conversions_anonymised"]) == (11, 4)
    assert lost_imports(asked.settings.operational_url, asked.lake) == []
    # nobody was taken for the person who used the same device later
    assert len({place for place in asked.left("neighbour1@example.com") if "touches" in place}) == 4


def killed_at_the_warehouse(settings: Settings) -> None:
    """An erasure, killed when it is about to drop the warehouse."""

    def kill(event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.remove" and str(arguments[0]).endswith("warehouse.built"):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(kill)
    erase_waiting(settings, Lake(settings.lake))


def test_nobody_is_taken_out_before_the_warehouse_that_knows_them_is_gone(settings: Settings) -> None:
    # the next build wrote on in its file, whose pages kept who was erased
    url = settings.operational_url
    Lake(settings.lake).prepare()
    nobody = {"values": {}, "own": [], "links": {}, "payments": [], "rows": {}}
    asked = {"reason": "other", "due_at": now(), "secret": "5e" * 32, "counts": {**NOTHING_YET}, "found": nobody}
    with transaction(url) as session:
        session.add(Erasure(profile_id=accounts.profile(url).id, **asked))
    left = [settings.home / name for name in ("warehouse.built", "warehouse.duckdb")]
    for path in left:
        path.write_text(forgotten.EMAIL)
    close_engines(url)
    erasing = PROCESSES.Process(target=killed_at_the_warehouse, args=(settings,))
    erasing.start()
    erasing.join()
    assert erasing.exitcode == -signal.SIGKILL
    assert [path.exists() for path in left] == [True, True]
    assert len(erase_waiting(settings, Lake(settings.lake))) == 1
    assert [path.exists() for path in left] == [False, False]
    with transaction(url) as session:
        assert session.scalars(sa.select(Erasure.rewritten_at)).one() is not None


def killed_at_the_import(settings: Settings, person: Person) -> None:
    """An erasure, killed when a file is rewritten and its import still that of the bytes before."""

    told = settings.inbox / person.profile_id / "people" / "told.csv"

    def kill(event: str, arguments: tuple[object, ...]) -> None:
        # it waits for the disk: no more under the name that it had while it was written
        if event == "open" and str(arguments[0]) == str(told.parent) and not forgotten.unfinished(told).exists():
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(kill)
    rewrite_inbox(settings.operational_url, Lake(settings.lake), settings.inbox, person)


def test_a_rewritten_file_stays_its_import_though_the_database_was_not_told_any_more(settings: Settings) -> None:
    # it was imported as a new file, and the doctor told for ever that the rows of the first one are gone
    url, lake = settings.operational_url, Lake(settings.lake)
    lake.prepare()
    profile_id = accounts.profile(url).id
    told = settings.inbox / profile_id / "people" / "told.csv"
    told.parent.mkdir(parents=True)
    told.write_text(f"person_key,email\np,{forgotten.EMAIL}\n")
    (first,) = scan_inbox(settings, lake)
    known = frozenset([identifier_id(profile_id, "email", forgotten.EMAIL.lower())])
    close_engines(url)
    erasing = PROCESSES.Process(target=killed_at_the_import, args=(settings, Person(profile_id, b"s", known, known)))
    erasing.start()
    erasing.join()
    assert erasing.exitcode == -signal.SIGKILL
    assert forgotten.left_of(settings.inbox) == []
    lake.prepare()
    assert scan_inbox(settings, lake) == []
    assert lost_imports(url, lake) == []
    with transaction(url) as session:
        (kept,) = session.scalars(sa.select(Import))
        assert (kept.id, kept.sha256) == (first.id, digest_of(told))
    assert [path.name for path in told.parent.iterdir()] == ["told.csv"]
