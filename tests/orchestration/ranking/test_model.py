"""The ranker is fitted whatever the number of ads that are ranked against each other."""

from __future__ import annotations

import numpy as np

from orchestration.ranking.history import HORIZON, History, labels
from orchestration.ranking.model import LARGEST_GROUP, fit_ranker, scores


def test_more_ads_of_one_group_than_the_library_takes_are_learnt_from() -> None:
    # the job of every profile had ended with "exceeds upper limit of 10000 for a query"
    count = 2 * LARGEST_GROUP + 1
    quality = np.random.default_rng(1).normal(size=count)
    ad = np.arange(count)
    history = History(
        day=np.repeat([0, HORIZON], count),
        root=np.zeros(2 * count, dtype=np.int64),
        ad=np.tile(ad, 2),
        names=("quality",),
        features=np.tile(quality, 2)[:, None],
        composite=np.zeros(2 * count),
        primary=np.tile(50 + 10 * quality, 2),
        reliability=np.ones(2 * count),
        exposure=np.ones(2 * count),
    )
    known = labels(history)
    assert known.known.sum() == count
    told = scores(fit_ranker(history, known, known.known), quality[:, None])
    # trees cut, so that the order is right up to neighbours; of the best tenth every ad is above the middle
    best = quality > np.quantile(quality, 0.9)
    assert told[best].min() > np.median(told)
