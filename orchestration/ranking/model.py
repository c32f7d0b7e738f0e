"""The ranker: LambdaMART (Burges 2010) as LightGBM has it, on one thread so that every machine grows the same trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from orchestration.ranking.arrays import Bools, Floats, Ints
from orchestration.ranking.history import GAINS, History, Labels

if TYPE_CHECKING:
    import lightgbm

TREES = 80
PARAMETERS: dict[str, Any] = {
    "objective": "lambdarank",
    "num_leaves": 7,
    "learning_rate": 0.05,
    "min_data_in_leaf": 40,
    "lambda_l2": 5.0,
    "lambdarank_truncation_level": 10,
    "label_gain": list(GAINS),
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "seed": 1,
    "verbosity": -1,
}
# below this many rows the trees could not split twice
LEAST_ROWS = 200
# LightGBM ends with an error over a larger group
LARGEST_GROUP = 10_000


def fit_ranker(history: History, labels: Labels, rows: Bools) -> lightgbm.Booster:
    """Fit on the labelled rows chosen; each weighs as much as its label is reliable.

    Labels are places in the whole group, also where it is learnt from in parts.
    """
    # loads libgomp, which only the ranking job may need
    import lightgbm

    chosen = np.flatnonzero(rows & labels.known)
    chosen = chosen[np.lexsort((history.ad[chosen], history.group[chosen]))]
    data = lightgbm.Dataset(
        history.features[chosen],
        label=labels.relevance[chosen],
        weight=labels.weight[chosen],
        group=_parts(history.group[chosen]),
        feature_name=list(history.names),
    )
    return lightgbm.train(PARAMETERS, data, num_boost_round=TREES)


def scores(ranker: lightgbm.Booster, features: Floats) -> Floats:
    """The ranker's score of each row; only its order inside a group means anything."""
    return np.asarray(ranker.predict(features, num_threads=1), dtype=np.float64) if len(features) else np.empty(0)


def _parts(group: Ints) -> list[int]:
    """Rows of each group in turn; a group too large is learnt from in parts of nearly one size."""
    whole = np.unique(group, return_counts=True)[1]
    return [len(part) for size in whole for part in np.array_split(np.arange(size), -(-size // LARGEST_GROUP))]
