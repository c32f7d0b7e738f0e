"""Where the truth is known, the composite finds better ads than raw rates do."""

from __future__ import annotations

import pytest

from benchmarks.judging import Judged, false_leaders, spearman
from tests.dbt_project import judged_world
from tests.dbt_project.project import Project

SCORES = """
    select entities.platform_id, composite_score, attributed_revenue_minor, link_clicks, spend_minor, impressions
    from marts.ad_scores
    join intermediate.int_entities as entities using (profile_key, entity_key)
    join marts.profiles using (profile_key)
    where profile_id = 'judged' and score_window = '28d'
"""
COMPOSITE, ROAS, CTR, CLICKS_PER_SPEND = range(4)


@pytest.fixture(scope="module")
def judged(credited: Project) -> list[Judged]:
    quality = {ad.id: ad.quality for ad in judged_world.ads()}
    return [
        Judged(quality[ad], "", "sales", (composite, cash / spend, clicks / shown, clicks / spend))
        for ad, composite, cash, clicks, spend, shown in credited.rows(SCORES)
    ]


def test_every_ad_of_the_world_has_a_score(judged: list[Judged]) -> None:
    assert len(judged) == judged_world.ADS


def test_hostile_names_pass_the_models_as_they_are(credited: Project) -> None:
    named = """
        select platform_id, name from marts.entities join marts.profiles using (profile_key)
        where profile_id = 'judged' and level = 'ad'
    """
    assert dict(credited.rows(named)) == judged_world.names()


def test_the_composite_ranks_nearer_to_the_truth_than_raw_rates(judged: list[Judged]) -> None:
    truth = [one.quality for one in judged]
    found = [spearman(truth, [one.values[measure] for one in judged]) for measure in range(4)]
    assert found[COMPOSITE] > max(found[ROAS], found[CTR], found[CLICKS_PER_SPEND]) + 0.05, found


def test_the_composite_crowns_no_more_bad_ads_than_a_raw_rate_does(judged: list[Judged]) -> None:
    wrong = [false_leaders(judged, measure) for measure in range(4)]
    assert wrong[COMPOSITE] <= min(wrong), wrong


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0),
        # ranks 0.5, 0.5, 2 and 0, 1, 2: covariance 1.5 over sqrt(1.5 x 2)
        ([5, 5, 9], [1, 2, 3], 0.8660254037844387),
        ([1, 1, 1], [1, 2, 3], 0.0),
    ],
)
def test_rank_correlation_takes_ties_at_their_mean_rank(
    first: list[float], second: list[float], expected: float
) -> None:
    assert spearman(first, second) == pytest.approx(expected)


def test_a_false_leader_is_in_the_best_tenth_and_under_the_median_in_truth() -> None:
    world = [Judged(quality=float(place), stage="", objective="", values=(place % 10, place)) for place in range(40)]
    # the best tenth by the first are 9, 19, 29 and 39, two of them under 19.5; by the second 36 to 39
    assert (false_leaders(world, 0), false_leaders(world, 1)) == (2, 0)
