"""Scores of the shipped models against the reference, on random worlds, and what must hold whatever the numbers."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import Any

import pytest

from api import served
from tests.dbt_project.project import Project
from tests.dbt_project.score_reference import CV, PIPELINE, WINDOWS, Row, score
from tests.dbt_project.score_worlds import END, worlds

EXACT = 1e-9

LAYERS = """
    select profiles.profile_id, windows.score_window, windows.as_of, ads.platform_id, names.layer,
        found.percentile, found.reliability
    from intermediate.int_score_percentiles as found
    join intermediate.int_score_windows as windows using (window_key)
    join marts.profiles using (profile_key)
    join intermediate.int_entities as ads on ads.entity_key = found.ad_key
    join intermediate.int_score_weights as names on names.layer_no = found.layer_no and names.objective = 'unknown'
    where profiles.profile_id like 'scores-%'
"""
SCORES = """
    select profiles.profile_id, scores.score_window, entities.platform_id, scores.*
    from marts.ad_scores as scores
    join marts.profiles using (profile_key)
    join marts.entities using (profile_key, entity_key)
    where profiles.profile_id like 'scores-%' and entities.level = 'ad'
"""

Key = tuple[str, str, date]


@pytest.fixture(scope="module")
def expected() -> dict[Key, dict[str, Row]]:
    """The reference, by profile, window and last day: the served windows and 28 days of two weeks ago."""
    asked = [(window, END) for window in WINDOWS] + [("28d", END - timedelta(days=14))]
    return {
        (world.id, window, as_of): score(worlds(), world, window, as_of)
        for world in worlds()
        for window, as_of in asked
    }


@pytest.fixture(scope="module")
def layers(credited: Project) -> dict[Key, dict[tuple[str, str], tuple[float, float]]]:
    found: dict[Key, dict[tuple[str, str], tuple[float, float]]] = {}
    for profile, window, as_of, ad, layer, percentile, reliability in credited.rows(LAYERS):
        found.setdefault((profile, window, as_of), {})[ad, layer] = (percentile, reliability)
    return found


@pytest.fixture(scope="module")
def scores(credited: Project) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Rows of ad_scores by profile, window and ad."""
    found = {}
    for profile, window, ad, *values in credited.rows(SCORES):
        found[profile, window, ad] = dict(zip(served.TABLES["ad_scores"], values, strict=True))
    return found


def test_every_percentile_is_the_references(
    expected: dict[Key, dict[str, Row]], layers: dict[Key, dict[tuple[str, str], tuple[float, float]]]
) -> None:
    for key, rows in expected.items():
        told = {(ad, layer): values for ad, row in rows.items() for layer, values in row.layers.items()}
        assert layers[key].keys() == told.keys(), key
        for cell, values in told.items():
            assert layers[key][cell] == pytest.approx(values, abs=EXACT), (key, cell)
    # every layer is there, or the comparison says little
    assert {layer for _, layer in layers["scores-many", "lifetime", END]} == set(CV)


def test_the_composite_is_the_weighted_mean_of_the_layers_an_ad_has(
    expected: dict[Key, dict[str, Row]], scores: dict[tuple[str, str, str], dict[str, Any]]
) -> None:
    for (profile, window, as_of), rows in expected.items():
        if as_of < END:
            continue
        assert {ad for name, told, ad in scores if (name, told) == (profile, window)} == rows.keys()
        for ad, row in rows.items():
            found = scores[profile, window, ad]
            assert found["composite_score"] == pytest.approx(row.mean(0), abs=EXACT), (profile, window, ad)
            assert found["reliability"] == pytest.approx(row.mean(1), abs=EXACT)
            assert found["coverage"] == (pytest.approx(row.coverage, abs=EXACT) if row.coverage else None)
            engaged = row.layers.get("engagement")
            assert found["avg_engagement_score"] == (engaged and pytest.approx(engaged[0], abs=EXACT))
            assert (found["config_version"], found["score_date"]) == (1, END)


def test_cohorts_stages_and_kinds_follow_the_rules(
    expected: dict[Key, dict[str, Row]], scores: dict[tuple[str, str, str], dict[str, Any]]
) -> None:
    for (profile, window, ad), found in scores.items():
        row = expected[profile, window, END][ad]
        cohorts = Counter(other.cohort for other in expected[profile, window, END].values())
        assert (found["cohort_key"], found["cohort_n_ads"]) == ("|".join(row.cohort), cohorts[row.cohort])
        assert found["spend_minor"] == row.spend
        assert found["delivery_days"] == sum(figures["impressions"] > 0 for figures in row.ad.days.values())
        assert found["maturity_stage"] == _stage(row, found["delivery_days"]), (profile, window, ad)
        assert found["truth_grade"] == ("attributed" if row.outcomes else "predicted")
        assert found["primary_outcome_kind"] == _kind(row)
        assert found["attributed_revenue_minor"] == sum(row.orders)
        assert found["attributed_outcomes_total"] == row.outcomes.total()
    assert {found["maturity_stage"] for found in scores.values()} == {"cold", "early", "mature", "calibrated"}


def _stage(row: Row, days: int) -> str:
    reliability = row.mean(1)
    if reliability is None or reliability < 0.35 or days < 3:
        return "cold"
    if reliability < 0.65 or days < 7:
        return "early"
    primary = {
        "sales": row.outcomes["payment_received"],
        "leads": sum(row.outcomes[kind] for kind in PIPELINE),
        "messaging": row.evidence["postclick_messaging"][0],
        "traffic": row.evidence["click_intent"][0] / 20,
        "awareness": row.evidence["engagement"][1] / 2000,
    }[row.ad.objective]
    settled = reliability >= 0.85 and days >= 14 and primary >= 50 and row.coverage >= 0.6
    return "calibrated" if settled else "mature"


def _kind(row: Row) -> str:
    if row.outcomes["payment_received"]:
        return "cash"
    if any(row.outcomes[kind] for kind in PIPELINE):
        return "pipeline"
    if row.outcomes["dm_started"] or row.evidence["postclick_messaging"][0]:
        return "messaging"
    return "platform" if row.evidence["platform_conversions"][0] else "none"


def test_reasons_are_the_three_layers_that_moved_the_score_most(
    credited: Project, expected: dict[Key, dict[str, Row]]
) -> None:
    ranks = ", ".join(f"{layer}_reason_rank" for layer in served.LAYERS)
    told = {
        tuple(ad): {rank: layer for layer, rank in zip(served.LAYERS, given, strict=True) if rank}
        for *ad, given in credited.rows(f"""
            select profiles.profile_id, score_window, entities.platform_id, [{ranks}]
            from marts.ad_score_layers join marts.profiles using (profile_key)
            join marts.entities using (profile_key, entity_key)
            where profiles.profile_id like 'scores-%' and entities.level = 'ad'
        """)
    }
    for (profile, window, as_of), rows in expected.items():
        for ad, row in rows.items() if as_of == END else ():
            moved = {layer: row.weights[layer] * abs(found[0] - 50) for layer, found in row.layers.items()}
            ranked = sorted(moved, key=lambda layer: -moved[layer])
            reasons = [layer for layer in ranked if moved[layer] and abs(row.layers[layer][0] - 50) >= 10]
            assert told[profile, window, ad] == dict(enumerate(reasons[:3], 1)), (profile, window, ad)


def test_money_in_another_unit_changes_no_percentile(
    layers: dict[Key, dict[tuple[str, str], tuple[float, float]]],
) -> None:
    for window in WINDOWS:
        threefold = layers["scores-threefold", window, END]
        for cell, values in layers["scores-many", window, END].items():
            assert threefold[cell] == pytest.approx(values, abs=EXACT), (window, cell)


def test_an_ad_without_data_is_at_50_and_one_with_little_near_it(
    expected: dict[Key, dict[str, Row]], layers: dict[Key, dict[tuple[str, str], tuple[float, float]]]
) -> None:
    bare, little = 0, 0
    for key, rows in expected.items():
        for (ad, layer), (percentile, reliability) in layers[key].items():
            if rows[ad].evidence[layer][1] == 0:
                bare += 1
                assert (percentile, reliability) == (pytest.approx(50, abs=1e-4), 0)
            elif reliability < 0.01:
                little += 1
                assert 45 < percentile < 55, (key, ad, layer)
    assert bare > 5 and little > 5


def test_percentiles_lie_in_the_order_in_which_they_are_published(credited: Project) -> None:
    """The publication sorts what does not; many rows go through the joins of the mart in their order."""
    windows = credited.rows("""
        select profile_key, score_window from intermediate.int_score_windows where is_current order by window_key
    """)
    assert windows and windows == sorted(windows)
    found = credited.rows("select window_key, ad_key from intermediate.int_score_standings")
    assert found and found == sorted(found)


def test_the_past_is_scored_as_of_its_day(credited: Project, expected: dict[Key, dict[str, Row]]) -> None:
    as_of = END - timedelta(days=14)
    rows = credited.rows(f"""
        select profiles.profile_id, ads.platform_id, composite_score, age_days, delivery_days, primary_layer,
            history.ad_account_id
        from intermediate.int_score_history as history join marts.profiles using (profile_key)
        join intermediate.int_entities as ads using (entity_key)
        where profiles.profile_id like 'scores-%' and as_of = '{as_of}'
    """)
    primary = {"sales": "attributed_revenue", "leads": "attributed_pipeline", "messaging": "postclick_messaging"}
    primary |= {"traffic": "click_intent", "awareness": "delivery"}
    assert len(rows) == sum(len(found) for (*_, day), found in expected.items() if day == as_of)
    for profile, ad, composite, age, days, layer, account in rows:
        row = expected[profile, "28d", as_of][ad]
        past = [day for day in row.ad.days if day <= as_of]
        assert composite == pytest.approx(row.mean(0), abs=EXACT)
        # in these worlds a platform has one account of its name
        assert account == row.ad.platform
        assert (age, days, layer) == ((as_of - min(past)).days, len(past), primary.get(row.ad.objective))
