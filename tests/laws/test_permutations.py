"""The same input in any order, any batches and any number of times gives byte-equal served tables, and so it does when
builds come between the batches, each of which computes anew only what its batches touch.

The newest landing's time is the one thing that is not input, so `data_as_of` is left out.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from orchestration.app_sets import land_calendar
from tests.dbt_project import credit_worlds, small_world
from tests.dbt_project.project import DEFAULTS, Project
from touchledger.settings import Settings

# one other order; `make days` draws as many as one likes, with more that changes
ANOTHER = 1
SEEDS = (0, 1, 2)
TIMES = {"profiles": ("data_as_of",)}


# tables of data sets that nothing is told of here
UNTOLD = {"entity_reach", "ad_creatives", "person_identifiers", "experiments", "experiment_arms", "match_keys"}
UNTOLD |= {"products", "variants", "orders", "order_lines", "declared_sources"}


@dataclass(frozen=True)
class Told:
    """The records of one data set of one profile."""

    dataset: str
    profile_id: str | None
    records: Sequence[dict[str, Any]]


def _told() -> list[Told]:
    """Random worlds, and a crowd of people who share devices and change addresses."""
    told: list[Told] = []
    profiles: list[dict[str, Any]] = [{**DEFAULTS, "profile_id": "crowd"}]
    for profile in map(credit_worlds.world, SEEDS):
        own = {"profile_id": profile.id, "time_zone": profile.time_zone, "lookback_days": profile.lookback_days}
        own |= {"half_life_days": profile.half_life_days, "inherit_recurring": profile.inherits}
        profiles.append({**DEFAULTS, **own})
        for dataset, rows in profile.records.items():
            cut = [{name: value for name, value in row.items() if name != "person"} for row in rows]
            told.append(Told(dataset, profile.id, cut))
        told.append(Told("ad_delivery", profile.id, _delivery()))
    told.append(Told("conversions", "crowd", small_world.crowd()))
    told.append(Told("identities", "crowd", small_world.typed()))
    told.append(Told("page_events", "crowd", small_world.pages()))
    told.append(Told("profiles", None, profiles))
    rates = [{"rate_date": on, "base": b, "quote": "USD", "rate": r} for (on, b), r in credit_worlds.RATES.items()]
    return [*told, Told("fx_rates", None, rates)]


def _delivery() -> list[dict[str, Any]]:
    """Days of two ads, one of them sent twice with the newer figures dated later."""
    day = {**small_world.AD, "campaign_id": "c1", "ad_set_id": "s1"}
    told = [
        {**day, "ad_id": ad, "date": f"2026-03-0{n}", "spend": f"{n}.05", "link_clicks": n * more}
        for more, ad in enumerate(("a1", "a2"), 2)
        for n in range(1, 6)
    ]
    revised = {**told[2], "spend": "9.99", "updated_at": "2026-03-09T00:00:00Z"}
    return [*told, revised]


def _land(project: Project, told: Sequence[Told], order: int) -> None:
    """Order 0 is one batch per set as written; every other one shuffles, cuts, and lands some batches twice.

    There a build follows every third of the batches but the last, and the first one finds other settings and two people
    taken for one, which a later batch takes back.
    """
    random, batches = Random(order), []
    for one in told:
        rows = list(one.records)
        if order:
            random.shuffle(rows)
        parts = random.randint(1, 3) if order else 1
        cut = [rows[n::parts] for n in range(parts)]
        again = [random.choice(cut)] if order else []
        batches += [(one, f"b{n}", part) for n, part in enumerate([*cut, *again])]
    if order:
        random.shuffle(batches)
        _land_errors(project, told)
    for n, (one, batch, part) in enumerate(batches, 1):
        project.land(one.dataset, part, profile_id=one.profile_id, batch=batch)
        if order and n % -(-len(batches) // 3) == 0 and n < len(batches):
            project.model()
    if order:
        # a build of its own, so that nothing else makes the next one look at whose touches are gone
        project.model()
        for dataset in ("touches", "conversions"):
            project.land(dataset, [], profile_id=_first(told).profile_id, batch="joint")


def _first(told: Sequence[Told], dataset: str = "touches") -> Told:
    """The touches, or another data set, of the first world."""
    return next(one for one in told if one.dataset == dataset)


def _land_errors(project: Project, told: Sequence[Told]) -> None:
    """What the input takes back in the end: settings, two people taken for one, a touch, outcomes and a refund."""
    profiles = next(one for one in told if one.dataset == "profiles")
    unlike = [{**row, "lookback_days": 7, "time_zone": "UTC"} for row in profiles.records]
    project.land("profiles", unlike, profile_id=None, batch="b0")
    touches = _first(told)
    people = {row["person_key"]: row for row in touches.records if row.get("person_key")}
    one, other, *_, third = people.values()
    joint = [{**row, "touch_key": f"joint {row['person_key']}", "external_id": "joint"} for row in (one, other)]
    # it names no ad and no click, which would be folded into the visit it was copied from
    stray = {name: third[name] for name in ("person_key", "occurred_at")} | {"channel": "web", "origin": "web"}
    project.land(
        "touches",
        [*joint, {**stray, "touch_key": "stray", "is_direct": True}],
        profile_id=touches.profile_id,
        batch="joint",
    )
    conversions = _first(told, "conversions")
    paid = next(row for row in conversions.records if row.get("payment_ref"))
    stray = {"occurred_at": paid["occurred_at"], "value": "1.00", "currency": paid["currency"]}
    back = {"conversion_type": "refund_issued", "refunds_payment_ref": paid["payment_ref"]}
    strays = [
        {**stray, "conversion_key": "stray", "conversion_type": "lead_created", "person_key": third["person_key"]},
        {**stray, "conversion_key": "stray paid", "conversion_type": "payment_received", "payment_ref": "x:stray"},
        {**stray, "conversion_key": "stray back", **back},
        # a newer version, for its time is told, of what is there or comes
        {**paid, "value": "0.01", "updated_at": "2020-01-01T00:00:00Z"},
    ]
    project.land("conversions", strays, profile_id=conversions.profile_id, batch="joint")


def _hashes(project: Project) -> dict[str, str]:
    """SHA-256 of the rows of every served table in their order of publication."""
    found = project.rows("select table_name from information_schema.tables where table_schema = 'marts'")
    names = [name for (name,) in found]
    told = {}
    for name in names:
        left_out = f" exclude ({', '.join(TIMES[name])})" if name in TIMES else ""
        rows = project.rows(f"select *{left_out} from marts.{name} order by all")
        assert rows or name in UNTOLD, name
        told[name] = hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest()
    return told


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(Settings(home=tmp_path_factory.mktemp("written")))
    for zone in ("UTC", "America/New_York", "Asia/Kolkata"):
        land_calendar(project.lake, zone)
    _land(project, _told(), 0)
    project.model()
    return project


@pytest.fixture(scope="module")
def as_written(written: Project) -> dict[str, str]:
    return _hashes(written)


def test_shuffled_cut_and_repeated_input_gives_the_same_bytes(
    written: Project, as_written: dict[str, str], tmp_path: Path
) -> None:
    project = Project(Settings(home=tmp_path))
    shutil.copytree(written.lake.root / "raw" / "calendar", project.lake.root / "raw" / "calendar", dirs_exist_ok=True)
    _land(project, _told(), ANOTHER)
    project.model()
    assert _hashes(project) == as_written


def test_one_record_more_gives_other_bytes(written: Project, as_written: dict[str, str]) -> None:
    more = {"conversion_key": "more", "occurred_at": "2026-03-09T00:00:00Z", "conversion_type": "lead_created"}
    written.land("conversions", [{**more, "person_key": "k1"}], profile_id=credit_worlds.world(0).id, batch="more")
    # of all that the record could move, what must move and what must not
    written.dbt("run", "--quiet", "--no-write-json", "--select", "+outcomes_daily", "+delivery_daily")
    changed = {name for name, digest in _hashes(written).items() if digest != as_written[name]}
    assert "outcomes_daily" in changed
    assert "delivery_daily" not in changed
