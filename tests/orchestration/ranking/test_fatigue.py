"""Chances of wear and of a stop: told where there is something to tell, never of shuffled or accidental ads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestration.ranking.evaluation import Evaluation
from orchestration.ranking.fatigue import evaluate_hazard, tier
from orchestration.ranking.hazard import Hazards, days_left, fit_hazards, within_30_days
from orchestration.ranking.landmarks import BINS, Event, landmarks
from orchestration.ranking.standing import APART, standing
from orchestration.ranking.wear import NEVER, Panel
from tests.factories.wear_worlds import WearWorld

WORN = WearWorld(wear=0.12, ads=80, days=250)


def two_looks(panel: Panel, event: Event = "degradation") -> list[Evaluation]:
    looks = [evaluate_hazard(panel.until(panel.newest - back), event) for back in (APART.days, 0)]
    return [look for look in looks if look]


@pytest.mark.parametrize("seed", [1, 2])
def test_wear_is_foreseen_and_served_after_two_looks(seed: int) -> None:
    first, second = two_looks(WORN.panel(seed))
    assert (first.fault, second.fault) == ("", "")
    assert second.day - first.day == APART
    assert standing([first, second], second.day).served
    assert second.auc.low > 0.75


def test_without_wear_there_is_nothing_to_judge_by() -> None:
    assert two_looks(WearWorld().panel(1)) == []


@pytest.mark.parametrize("seed", range(3))
def test_features_of_other_ads_never_pass(seed: int) -> None:
    panel = WORN.panel(seed)
    rows = landmarks(panel, "degradation")
    order = np.random.default_rng(seed).permutation(len(rows))
    look = evaluate_hazard(panel, "degradation", rows=replace(rows, features=rows.features[order]))
    assert look is not None
    assert look.fault == "no_skill"


def test_stops_that_follow_wear_are_foreseen_and_accidental_ones_are_not() -> None:
    followed = WearWorld(accounts=4, ads=100, days=250, wear=0.12, pauses_when_worn=0.03).panel(1)
    assert two_looks(followed, "pause")[-1].auc.low > 0.6
    for seed in (1, 2):
        accidents = two_looks(WearWorld(accounts=4, ads=60, pauses=0.015).panel(seed), "pause")
        assert accidents and not any(look.passed for look in accidents)


def test_sudden_drops_are_harder_to_foresee_than_wear() -> None:
    drops = two_looks(WearWorld(accounts=4, ads=80, days=250, drops=0.01).panel(3))[-1]
    assert 0.5 < drops.auc.value < two_looks(WORN.panel(1))[-1].auc.value


def test_an_ad_that_has_worn_out_is_no_longer_at_risk() -> None:
    panel = WORN.panel(1)
    rows = landmarks(panel, "degradation")
    worn = panel.worn_on[rows.ad]
    assert (worn != NEVER).any()
    assert (rows.day - panel.first < np.where(worn == NEVER, panel.newest, worn)).all()


def test_weeks_after_the_event_or_the_pause_are_not_seen() -> None:
    rows = landmarks(WORN.panel(1), "degradation")
    seen = np.isfinite(rows.outcome)
    assert (np.diff(seen.astype(int), axis=1) <= 0).all()
    happened = (rows.outcome == 1).any(axis=1)
    assert (seen[happened].sum(axis=1) == np.argmax(rows.outcome == 1, axis=1)[happened] + 1).all()


@pytest.mark.parametrize("event", ["degradation", "pause"])
def test_a_week_without_the_event_is_seen_only_once_that_is_known(event: Event) -> None:
    panel = replace(WORN, pauses=0.01).panel(1)
    rows = landmarks(panel, event)
    assert rows.known[rows.outcome == 0].max() <= panel.newest


@pytest.mark.parametrize("event", ["degradation", "pause"])
def test_a_fit_is_of_what_was_known_on_its_day(event: Event) -> None:
    panel = replace(WORN, pauses=0.01).panel(1)
    cutoff = panel.newest - 42
    early, late = (fit_hazards(landmarks(one, event), cutoff) for one in (panel.until(cutoff), panel))
    assert early and late
    # the landmarks are the same; an ad that has no later day is seen no longer in both
    assert early.events == late.events
    assert early.weights == pytest.approx(late.weights, rel=1e-6)


def test_a_fit_knows_no_stop_of_an_account_that_rests_on_weekends_before_its_week_is_over() -> None:
    panel = replace(WORN, pauses=0.01).panel(1)
    on = np.arange(panel.spend.shape[1]) % 7 < 5
    panel = replace(panel, spend=panel.spend * on, impressions=panel.impressions * on)
    # a Tuesday: a stop of the days before the weekend is seen two days later than a week after it
    cutoff = panel.first + 7 * 29 + 1
    whole = panel.until(cutoff + 42)
    early, late = (fit_hazards(landmarks(one, "pause"), cutoff) for one in (panel.until(cutoff), whole))
    assert early and late
    assert early.events == late.events > 30
    assert early.weights == pytest.approx(late.weights, rel=1e-6)


def test_nothing_is_known_of_a_stop_in_an_account_that_spends_no_more() -> None:
    panel = WearWorld(pauses=0.0).panel(1)
    silent = panel.spend.copy()
    gone, ended = panel.account == 0, panel.spend.shape[1] - 60
    silent[gone, ended:] = 0.0
    rows = landmarks(replace(panel, spend=silent, impressions=panel.impressions * (silent > 0)), "pause")
    theirs = gone[rows.ad]
    assert theirs.any()
    # a week of the account's spend has to follow before an ad is known to run on
    assert rows.known[theirs][np.isfinite(rows.outcome[theirs])].max() < panel.first + ended


def test_chances_add_up_as_the_formula_says() -> None:
    weekly = np.array([[0.1, 0.2, 0.3, 0.4, 0.5]])
    assert within_30_days(weekly)[0] == pytest.approx(1 - 0.9 * 0.8 * 0.7 * 0.6 * 0.5 ** (2 / 7))
    assert days_left(np.zeros((1, BINS)))[0] == pytest.approx(90)
    # certain in the first week: half a week on average
    assert days_left(np.ones((1, BINS)))[0] == pytest.approx(3.5)


def test_tiers_begin_at_their_bounds() -> None:
    assert [tier(chance) for chance in (0.0, 0.2, 0.5, 0.8, 1.0)] == ["low", "medium", "high", "critical", "critical"]


def test_weights_come_back_from_their_file_as_they_were() -> None:
    panel = WORN.panel(2)
    fitted = fit_hazards(landmarks(panel, "degradation"), panel.newest)
    assert fitted and Hazards.from_json(fitted.as_json()) == fitted
