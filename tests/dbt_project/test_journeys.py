"""Every journey of the golden cases and the random worlds, read from the published snapshot as the API reads it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from api.served import MODELS, ProfileFacts, profile_facts
from api.snapshot import SnapshotReader, Snapshots
from api.v1.conversions import queries
from api.v1.conversions.split import shares, values
from tests.dbt_project import canary
from tests.dbt_project.project import Project
from touchledger.settings import Settings

BITS = {"last_touch": 1, "first_touch": 2, "last_non_direct": 4}


@pytest.fixture(scope="module")
def reader(published: Settings) -> Iterator[SnapshotReader]:
    # one reader for all of the file's tests: no request's deadline
    snapshots = Snapshots(published.model_copy(update={"query_deadline_seconds": 3600.0}))
    with snapshots.reader() as opened:
        assert opened
        yield opened
    snapshots.close()


Journey = tuple[dict[str, Any], list[dict[str, Any]], dict[tuple[str, int], int]]


@pytest.fixture(scope="module")
def journeys(reader: SnapshotReader) -> list[Journey]:
    """Per conversion: itself, its path and its cents."""
    return [
        (found, queries.path(reader, profile, found["path_conversion_key"]), cents)
        for profile in _profiles(reader)
        for found in _conversions(reader, profile)
        for cents in (queries.cents(reader, profile, found["conversion_key"]),)
    ]


def _profiles(reader: SnapshotReader) -> list[ProfileFacts]:
    ids = [row[0] for row in reader.rows("select profile_id from profiles order by profile_id")]
    return [facts for one in ids if (facts := profile_facts(reader, one))]


def _conversions(reader: SnapshotReader, profile: ProfileFacts) -> list[dict[str, Any]]:
    ids = reader.rows("select conversion_id from conversions where profile_key = $key", {"key": profile.profile_key})
    return [found for (one,) in ids if (found := queries.conversion(reader, profile, one))]


def test_weights_of_every_path_add_up_to_exactly_one(journeys: list[Journey]) -> None:
    paths = [path for _, path, _ in journeys if path]
    assert len(paths) > 100
    for path in paths:
        for model in MODELS:
            parts = [shares(touch)[model] for touch in path]
            assert sum(part.units for part in parts) == parts[0].total, (model, path[0])


def test_values_of_every_path_add_up_to_each_destinations_cents_and_to_the_amount(journeys: list[Journey]) -> None:
    split = 0
    for found, path, cents in journeys:
        amount = found["cash_minor"] if found["is_cash"] else found["pipeline_minor"]
        parts = values(found["conversion_id"], path, cents)
        for model in MODELS if path and amount is not None else ():
            split += 1
            assert sum(part[model] for part in parts) == amount
            told: dict[int, int] = defaultdict(int)
            for touch, part in zip(path, parts, strict=True):
                told[touch["destination_key"]] += part[model]
            credited = {key: share for (one, key), share in cents.items() if one == model}
            assert {key: share for key, share in told.items() if share} == {k: v for k, v in credited.items() if v}
    assert split > 500


def test_a_destinations_touches_weigh_what_the_warehouse_credits_it_with(
    journeys: list[Journey], credited: Project
) -> None:
    rows = credited.rows("select conversion_key, destination_key, k, w_dec, flags from intermediate.int_credits")
    expected = {(key, destination): figures for key, destination, *figures in rows}
    got: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for found, path, _ in journeys:
        for touch in path if found["inherited_from"] is None else ():
            cell, share = got[found["conversion_key"], touch["destination_key"]], shares(touch)
            cell[0] += share["linear"].units
            cell[1] += share["time_decay"].units
            cell[2] |= sum(bit for model, bit in BITS.items() if share[model].units)
    assert dict(got) == {key: [k, w_dec, flags & 7] for key, (k, w_dec, flags) in expected.items()}


def test_a_renewal_shows_the_first_payments_path_and_splits_its_own_cash(journeys: list[Journey]) -> None:
    own = {found["conversion_id"]: path for found, path, _ in journeys}
    renewals = [(found, path) for found, path, _ in journeys if found["inherited_from"]]
    assert renewals
    for found, path in renewals:
        assert path == own[found["inherited_from"]]


def test_the_campaign_of_a_conversion_is_the_one_with_the_largest_share(reader: SnapshotReader) -> None:
    for model in MODELS:
        rows = reader.rows(
            f"""
            select c.conversion_id, c.{model}_campaign, t.campaign_key, sum(m.cents)
            from conversions as c
            join credit_cents as m on m.conversion_key = c.conversion_key and m.model = '{model}'
            join destinations as t using (destination_key)
            where t.campaign_key is not null
            group by all
            """
        )
        most: dict[str, int] = defaultdict(int)
        chosen: dict[str, int] = defaultdict(int)
        for conversion_id, campaign, key, cents in rows:
            most[conversion_id] = max(most[conversion_id], cents)
            chosen[conversion_id] += cents if key == campaign else 0
        # cents left over may go to the smaller of two equal shares, one unit per destination
        assert all(most[one] - chosen[one] <= 4 for one in most)
        assert len(most) > 30


def test_a_robots_path_is_its_newest_touches_and_tells_how_many_there_were(
    reader: SnapshotReader, journeys: list[Journey]
) -> None:
    (found, path, profile) = next(
        (found, path, profile)
        for profile in _profiles(reader)
        for found, path, _ in journeys
        if path and path[0]["is_capped"] and queries.conversion(reader, profile, found["conversion_id"])
    )
    assert len(path) == 500
    assert queries.touches_in_window(reader, profile, found["path_conversion_key"]) > 500


def test_a_conversion_is_found_by_its_id_its_event_and_its_callers_key(reader: SnapshotReader) -> None:
    profile = profile_facts(reader, canary.PROFILE)
    assert profile
    sale = queries.conversion(reader, profile, "sale-1")
    assert sale
    for handle in (sale["conversion_id"].upper(), sale["outcome_event_id"].upper()):
        assert queries.conversion(reader, profile, handle) == sale
    assert queries.conversion(reader, profile, "x:canary-payment") is None
    assert queries.conversion(reader, profile, "x:canary-payment", by_reference=True) == sale


def test_no_identity_and_no_page_is_in_the_served_file(published: Settings, reader: SnapshotReader) -> None:
    tables = [name for (name,) in reader.rows("select table_name from duckdb_tables()")]
    rows = {table: reader.dicts(f"select * from {table}") for table in tables}
    # the report on paid clicks without an ad tells their landing host, of nobody in particular
    for row in rows["paid_clicks"]:
        del row["landing_host"]
    texts = [value for table in tables for row in rows[table] for value in row.values() if isinstance(value, str)]
    assert "spring" in texts and "sale-1" in texts
    assert [word for word in canary.WORDS if any(word in text for text in texts)] == []
