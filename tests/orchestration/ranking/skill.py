"""How often noise is served and skill is not: `make skill` prints the shares with their counts."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from rich.console import Console

from orchestration.ranking.evaluation import Evaluation
from orchestration.ranking.fatigue import evaluate_hazard
from orchestration.ranking.hazard import FURTHEST, days_left, fit_hazards
from orchestration.ranking.landmarks import Event, landmarks
from orchestration.ranking.lifespan import evaluate_days
from orchestration.ranking.standing import APART, standing
from orchestration.ranking.wear import NEVER, Panel
from tests.factories.ad_worlds import World, looks_over_time
from tests.factories.wear_worlds import WearWorld

say = Console(highlight=False, soft_wrap=True).print
Look = Callable[..., Evaluation | None]
LOOKS = 7
NOISE = World(accounts=4, ads=60, weeks=54, quality=0.0)
SKILL = {"strong": 0.5, "medium": 0.25, "weak": 0.12}
WORN = WearWorld(accounts=4, ads=100, days=280, wear=0.12)
WEAR = {
    "wear by frequency": WORN,
    "half as fast": replace(WORN, wear=0.06),
    "sudden drops": replace(WORN, wear=0.0, drops=0.01),
    "both": replace(WORN, wear=0.08, drops=0.005),
}


def likelihood(worlds: int) -> None:
    """Noise over seven looks, then worlds of lasting differences after two."""
    told = [looks_over_time(NOISE.history(seed), looks=LOOKS) for seed in range(worlds)]
    ever = sum(any(place.served for _, place in looks) for looks in told)
    single = [look.passed for looks in told for look, _ in looks]
    say(f"noise: {ever} of {worlds} worlds ever served over {LOOKS} looks; {np.mean(single):.1%} of looks passed")
    for name, quality in SKILL.items():
        pairs = [
            looks_over_time(replace(NOISE, weeks=36, quality=quality).history(seed), looks=2) for seed in range(worlds)
        ]
        newest = [looks[-1] for looks in pairs if len(looks) == 2]
        served = sum(place.served for _, place in newest)
        figures = {
            "AUC": np.mean([look.auc.value for look, _ in newest]),
            "rules": np.mean([look.rules.value for look, _ in newest]),
            "Brier skill": np.mean([look.brier_skill for look, _ in newest]),
        }
        say(f"{name} signal: {served} of {worlds} served after two looks; {_listed(figures)}")


def wear(worlds: int) -> None:
    """False events, then the gate of the hazards, then how far expected days are from the truth."""
    still = [replace(WORN, wear=0.0, accounts=8, ads=220).panel(seed) for seed in range(worlds)]
    judged = sum(int(np.isfinite(panel.index).any(axis=1).sum()) for panel in still)
    say(f"no wear: {sum(int((panel.worn_on != NEVER).sum()) for panel in still)} of {judged} ads seem worn")
    for name, world in WEAR.items():
        _gate(name, [world.panel(seed) for seed in range(worlds)], _of("degradation"))
    _gate("stops of worn ads", [replace(WORN, pauses_when_worn=0.03).panel(s) for s in range(worlds)], _of("pause"))
    _gate("accidental stops", [replace(WORN, wear=0.0, pauses=0.012).panel(s) for s in range(worlds)], _of("pause"))
    say(f"wear with features of other ads: {_mixed(worlds, _of('degradation'))} of {worlds} pass a look")


def _of(event: Event) -> Look:
    return partial(evaluate_hazard, event=event)


def _mixed(worlds: int, look: Look) -> int:
    """How many worlds pass although each row has the features of another."""
    passed = 0
    for seed in range(worlds):
        panel = WORN.panel(seed)
        rows = landmarks(panel, "degradation")
        mixed = replace(rows, features=rows.features[np.random.default_rng(seed).permutation(len(rows))])
        found = look(panel, rows=mixed)
        passed += found is not None and found.passed
    return passed


def days(worlds: int) -> None:
    """The gate of expected days; then these against the true ones, both cut at 90 days, of ads that no fit had seen."""
    stopped = {"stops of worn ads": replace(WORN, pauses_when_worn=0.03), "many stops": replace(WORN, pauses=0.01)}
    for name, world in {**WEAR, **stopped, "no wear": replace(WORN, wear=0.0)}.items():
        _gate(f"days, {name}", [world.panel(seed) for seed in range(worlds)], evaluate_days)
    say(f"days with features of other ads: {_mixed(worlds, evaluate_days)} of {worlds} pass a look")
    for name, world in WEAR.items():
        told, true = (
            np.concatenate(part) for part in zip(*[_days(world, seed) for seed in range(worlds)], strict=True)
        )
        figures = {
            "mean told": told.mean(),
            "mean true": true.mean(),
            "mean error": np.abs(told - true).mean(),
            "error of the best constant": np.abs(np.median(true) - true).mean(),
        }
        say(f"days left, {name}: {len(told)} rows; {_listed(figures)}")


def _days(world: WearWorld, seed: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    longer = replace(world, days=world.days + FURTHEST)
    panel, worn = longer.told(seed)
    cutoff = panel.first + world.days - 60
    hazards = fit_hazards(landmarks(panel.until(cutoff), "degradation"), cutoff)
    rows = landmarks(panel, "degradation")
    rows = rows.rows((rows.day >= cutoff) & (rows.day < cutoff + 60))
    if hazards is None:
        return np.empty(0), np.empty(0)
    true = np.clip(worn[rows.ad] - (rows.day - panel.first), 0, FURTHEST)
    return days_left(hazards.weekly(rows.features)), true.astype(float)


def _gate(name: str, panels: list[Panel], look: Look) -> None:
    looks = [[look(panel.until(panel.newest - back)) for back in (APART.days, 0)] for panel in panels]
    found = [[one for one in pair if one] for pair in looks]
    served = sum(bool(pair) and standing(pair, pair[-1].day).served for pair in found)
    newest = [pair[-1] for pair in found if pair]
    figures = {
        "AUC": np.mean([look.auc.value for look in newest]) if newest else float("nan"),
        "Brier skill": np.mean([look.brier_skill for look in newest]) if newest else float("nan"),
        "observed / expected": np.mean([look.base_rate / look.mean_probability for look in newest])
        if newest
        else float("nan"),
    }
    passed = sum(look.passed for look in newest)
    say(f"{name}: {passed} of {len(panels)} pass the newest look, {served} served after two; {_listed(figures)}")


def _listed(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in figures.items())


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--worlds", type=int, default=24)
    count = arguments.parse_args().worlds
    likelihood(count)
    wear(max(count // 3, 1))
    days(max(count // 3, 1))
