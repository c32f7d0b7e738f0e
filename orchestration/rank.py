"""The ranker's day: fit when a week has passed, look when four have, and tell what may be told of today's ads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np

from orchestration.ranking.arrays import Ints
from orchestration.ranking.evaluation import RECIPE, Evaluation
from orchestration.ranking.fatigue import evaluate_hazard, tier
from orchestration.ranking.hazard import Hazards, fit_hazards, within_30_days
from orchestration.ranking.history import labels
from orchestration.ranking.landmarks import Event, at_risk, features, landmarks
from orchestration.ranking.lifespan import DAYS_LEFT, evaluate_days, lifespan
from orchestration.ranking.likelihood import EPOCH, MEASURE, Ranker, evaluate, fit, likelihoods
from orchestration.ranking.standing import PROVEN, Standing, due, standing
from orchestration.ranking.wear import NEVER
from orchestration.ranking_inputs import Known
from orchestration.ranking_store import Model, RankingStore

if TYPE_CHECKING:
    import pyarrow as pa

EVENTS: tuple[Event, ...] = ("degradation", "pause")
HAZARDS: Mapping[str, Event] = {f"hazard_30d_{event}": event for event in EVENTS}
# days left are told by the chances of wear, and looked at apart
FORESEEN: Mapping[str, Event] = {**HAZARDS, DAYS_LEFT: "degradation"}
LOOKED_AT = (MEASURE, *FORESEEN)
TIER, OF_TIER = "fatigue_risk_tier", "hazard_30d_degradation"
FIT_EVERY = timedelta(days=7)
# an ad of fewer days has nothing to be ranked by
YOUNGEST = 3


@dataclass(frozen=True)
class Told:
    """What is told of one ad, or where `ad_id` is None of every ad of a profile and objective; see `ad_likelihoods`."""

    profile_id: str
    objective: str
    ad_id: str | None
    measure: str
    reason: str
    evaluated_on: date | None = None
    value: float | None = None
    label: str | None = None


def day_of(known: Known) -> date:
    """The newest day of the data."""
    return EPOCH + timedelta(days=known.newest)


def train(known: Known, store: RankingStore) -> Model | None:
    """The model for today: the newest one, or a new version once a week; None where nothing could be fitted."""
    newest, today = store.newest(), day_of(known)
    if newest is not None and newest.day <= today < newest.day + FIT_EVERY:
        return newest
    ranker = fit(known.history)
    rows = {event: landmarks(known.panel, event) for event in EVENTS}
    fitted = {event: fit_hazards(rows[event], known.panel.newest) for event in EVENTS}
    hazards: dict[str, Hazards] = {event: one for event, one in fitted.items() if one is not None}
    if ranker is None and not hazards:
        return newest
    model = Model(
        version=store.next_version(),
        day=today,
        recipe=RECIPE,
        ranker=ranker,
        hazards=hazards,
        words=known.words,
        ranked=_scopes(known, known.history.root[labels(known.history).known]) if ranker else (),
        worn=_scopes(known, known.panel.root[np.isfinite(known.panel.index).any(axis=1)]) if hazards else (),
    )
    store.add(model)
    return model


def look(known: Known, store: RankingStore) -> dict[str, Evaluation | None]:
    """Look at each measure that is due; what each look found, None where there was too little to see."""
    today, found = day_of(known), {}
    for measure in LOOKED_AT:
        if due(store.looks(measure).taken, today):
            found[measure] = _look(known, measure)
            store.add_look(measure, today, found[measure])
    return found


def _look(known: Known, measure: str) -> Evaluation | None:
    if measure == MEASURE:
        return evaluate(known.history)
    return evaluate_days(known.panel) if measure == DAYS_LEFT else evaluate_hazard(known.panel, HAZARDS[measure])


def standings(store: RankingStore, today: date) -> dict[str, Standing]:
    """Whether each measure may be served. The tier stands on the chance of wear."""
    found = {}
    for measure in LOOKED_AT:
        looks = store.looks(measure)
        found[measure] = standing(looks.taken, today, attempted=looks.tried is not None)
    return {**found, TIER: found[OF_TIER]}


def tell(known: Known, model: Model, store: RankingStore) -> list[Told]:
    """Everything to be told: one row per scope and measure, and one per ad where the measure is served."""
    standing_of = standings(store, day_of(known))
    told = []
    for measure, place in standing_of.items():
        for profile, objective in _scopes_of(model, measure):
            told.append(Told(profile, objective, None, measure, place.reason, place.evaluated_on))
    if model.ranker is not None and standing_of[MEASURE].served:
        told += _likelihoods(known, model.ranker)
    for measure, event in FORESEEN.items():
        if event in model.hazards and standing_of[measure].served:
            told += _foreseen(known, measure, model.hazards[event])
    return told


def as_table(told: list[Told], model: Model, known: Known) -> pa.Table:
    """The rows as they are kept for the build, each with the newest day of its own profile's data."""
    import pyarrow as pa

    columns = {
        "profile_id": pa.string(), "objective": pa.string(), "ad_id": pa.string(), "measure": pa.string(),
        "reason": pa.string(), "evaluated_on": pa.date32(), "value": pa.float64(), "label": pa.string(),
    }  # fmt: skip
    arrays = [pa.array([getattr(row, name) for row in told], kind) for name, kind in columns.items()]
    table = pa.table(arrays, names=list(columns))
    table = table.append_column("model_version", pa.array([model.version] * len(told), pa.int64()))
    newest = [EPOCH + timedelta(days=known.newest_of.get(row.profile_id, known.newest)) for row in told]
    return table.append_column("told_on", pa.array(newest, pa.date32()))


def _scopes_of(model: Model, measure: str) -> tuple[tuple[str, str], ...]:
    if measure == MEASURE:
        return model.ranked
    return model.worn if FORESEEN.get(measure, "degradation") in model.hazards else ()


def _scopes(known: Known, roots: Ints) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({(known.roots[code][0], known.roots[code][2]) for code in roots.tolist()}))


def _likelihoods(known: Known, ranker: Ranker) -> Iterator[Told]:
    history = known.history
    newest = np.array([known.newest_of[profile] for profile, _, _ in known.roots])
    chosen = (history.day == newest[history.root]) & (known.delivery_days >= YOUNGEST)
    chances = likelihoods(ranker, history, chosen)
    for row, chance in zip(np.flatnonzero(chosen).tolist(), chances.tolist(), strict=True):
        if np.isfinite(chance):
            profile, ad_id = known.ads[history.ad[row]]
            yield Told(profile, known.roots[history.root[row]][2], ad_id, MEASURE, PROVEN, value=chance)


def _foreseen(known: Known, measure: str, fitted: Hazards) -> Iterator[Told]:
    """What is foreseen on the last day known of each profile; of worn ads the tier is known and nothing is left."""
    panel, event = known.panel, FORESEEN[measure]
    happened = panel.worn_on if event == "degradation" else panel.stopped_on
    for profile, day in sorted(known.newest_of.items()):
        column = day - panel.first
        mine = np.array([known.ads[ad][0] == profile for ad in range(len(panel.ad))])
        risky = np.flatnonzero(mine & at_risk(panel, column, happened))
        weekly = fitted.weekly(features(panel, column, risky))
        told = lifespan(panel, column, risky, weekly) if measure == DAYS_LEFT else within_30_days(weekly)
        values = dict(zip(risky.tolist(), told.tolist(), strict=True))
        for ad in np.flatnonzero(mine).tolist():
            scope = (profile, known.roots[panel.root[ad]][2], known.ads[ad][1])
            worn = event == "degradation" and happened[ad] != NEVER
            indexed = bool(np.isfinite(panel.index[ad, column]))
            yield from _of_ad(scope, measure, values.get(ad), worn=worn, indexed=indexed)


def _of_ad(
    scope: tuple[str, str, str], measure: str, value: float | None, *, worn: bool, indexed: bool
) -> Iterator[Told]:
    """What is foreseen of one ad, and with its chance of wear the tier."""
    if value is not None:
        reason = PROVEN
    elif worn:
        reason = "already_fatigued"
    else:
        reason = "not_scored" if indexed else "no_baseline"
    yield Told(*scope, measure, reason, value=value)
    if measure == OF_TIER:
        label = tier(value) if value is not None else "high" if worn else None
        yield Told(*scope, TIER, reason, label=label)
