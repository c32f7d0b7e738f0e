"""How far an ad has worn: responses per spend of the last week over its own first days, and the day it had halved.

The response is a click, or the ad's primary outcome where that is dense enough. Both ends are smoothed by five expected
responses, the baseline towards its root's, so that an ad with little data has an index near 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from orchestration.ranking.arrays import Bools, Floats, Ints, grouped

BASELINE_DAYS = (4, 10)
TRAILING = 7
SMOOTHING = 5.0
# responses a window must expect at baseline before its index means anything; outcomes this dense replace clicks
DENSE = 20.0
# cost per response twice the baseline's, on so many days in a row
HALVED = 0.5
DAYS_IN_A_ROW = 3
# days without an impression on which its account spends, after which an ad has stopped for good
STOPPED = 7
NEVER = -1


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Daily delivery of ads: matrices of ad x day, 0 where there was none.

    `first` is the day (since 1970) of the first column, `root` a dense code of profile, channel and objective per ad,
    `account` one of the account. `outcomes` are of the primary outcome, `reach` 0 where the platform does not tell it.
    """

    first: int
    ad: Ints
    root: Ints
    account: Ints
    spend: Floats
    impressions: Floats
    reach: Floats
    clicks: Floats
    outcomes: Floats

    @property
    def newest(self) -> int:
        """The last day known."""
        return self.first + int(self.spend.shape[1]) - 1

    def until(self, day: int) -> Panel:
        """What was known on that day."""
        columns = day - self.first + 1
        matrices = ("spend", "impressions", "reach", "clicks", "outcomes")
        cut = {name: getattr(self, name)[:, :columns] for name in matrices}
        return Panel(first=self.first, ad=self.ad, root=self.root, account=self.account, **cut)

    @cached_property
    def delivered(self) -> Bools:
        return self.impressions > 0

    @cached_property
    def age(self) -> Ints:
        """Days with impressions up to each day, that day included."""
        return np.cumsum(self.delivered, axis=1)

    @cached_property
    def responses(self) -> Floats:
        """Clicks, or outcomes for an ad whose baseline days held enough of them."""
        return np.where(self._is_dense[:, None], self.outcomes, self.clicks)

    @cached_property
    def baseline(self) -> Floats:
        """Responses per spend of delivery days 4 to 10, drawn to the root's mean by five responses; else NaN.

        The mean is of the ads with the same kind of response whose own days were over by then: a later ad changes
        nothing about an earlier day.
        """
        kept, is_over = self._in_baseline, self.age > BASELINE_DAYS[1]
        k, e = (self.responses * kept).sum(axis=1), (self.spend * kept).sum(axis=1)
        over_on = np.where(is_over[:, -1], is_over.argmax(axis=1), is_over.shape[1])
        mean = np.zeros(len(self.ad))
        for ads in grouped(2 * self.root + self._is_dense):
            ads = ads[np.argsort(over_on[ads], kind="stable")]
            newest = np.searchsorted(over_on[ads], over_on[ads], side="right") - 1
            mean[ads] = np.cumsum(k[ads])[newest] / np.maximum(np.cumsum(e[ads])[newest], 1e-12)
        with np.errstate(divide="ignore"):
            drawn = (k + SMOOTHING) / (e + SMOOTHING / mean)
        return np.where(is_over[:, -1] & (mean > 0), drawn, np.nan)

    @cached_property
    def expected(self) -> Floats:
        """Responses of the trailing week if the ad did as in its baseline."""
        return trailing(self.spend) * np.nan_to_num(self.baseline)[:, None]

    @cached_property
    def index(self) -> Floats:
        """Response per spend over the baseline's, 1 = as at first; NaN where undefined."""
        defined = (self.expected >= DENSE) & (self.age > BASELINE_DAYS[1])
        return np.where(defined, (trailing(self.responses) + SMOOTHING) / (self.expected + SMOOTHING), np.nan)

    @cached_property
    def frequency(self) -> Floats:
        """Impressions per person reached over the trailing week; 1 where reach is not told."""
        reach = trailing(self.reach)
        return np.where(reach > 0, trailing(self.impressions * (self.reach > 0)) / np.maximum(reach, 1), 1.0)

    @cached_property
    def worn_on(self) -> Ints:
        """Column of the third day in a row with the index halved, NEVER without one."""
        low = np.nan_to_num(self.index, nan=1.0) <= HALVED
        run = low[:, 2:] & low[:, 1:-1] & low[:, :-2]
        return np.where(run.any(axis=1), run.argmax(axis=1) + DAYS_IN_A_ROW - 1, NEVER)

    @cached_property
    def account_spent(self) -> Bools:
        """Whether the account of each ad spent on each day."""
        return np.asarray(self._spent[self.account])

    @cached_property
    def stopped_on(self) -> Ints:
        """First column of the first seven on which an ad had no impression and its account spent; NEVER without them.

        Days without spend, such as the weekends of an account that runs on weekdays, count for neither side.
        """
        days = self.spend.shape[1]
        idle = ~self.delivered & self.account_spent & (self.age > 0)
        run = np.zeros((len(idle), days + 1), dtype=np.int64)
        for day in range(days - 1, -1, -1):
            run[:, day] = run[:, day + 1] * ~self.delivered[:, day] + idle[:, day]
        stopped = idle & (run[:, :-1] >= STOPPED)
        return np.where(stopped.any(axis=1), stopped.argmax(axis=1), NEVER)

    def stop_known_on(self, ads: Ints, column: int) -> Ints:
        """First column on which it is known of each ad whether it had stopped by that one; a day beyond all without."""
        days = self.spend.shape[1]
        return self._stops_known[self.account[ads], column] if column < days else np.full(len(ads), column + STOPPED)

    @cached_property
    def _spent(self) -> Bools:
        spent = np.zeros((int(self.account.max(initial=0)) + 1, self.spend.shape[1]))
        np.add.at(spent, self.account, self.spend)
        return np.asarray(spent > 0)

    @cached_property
    def _stops_known(self) -> Ints:
        """Column of the seventh day of spend of each account from each column on."""
        known = np.zeros(self._spent.shape, dtype=np.int64)
        for account, spent in enumerate(self._spent):
            so_far = np.cumsum(spent)
            known[account] = np.searchsorted(so_far, so_far - spent + STOPPED)
        return known

    @cached_property
    def _is_dense(self) -> Bools:
        return np.asarray((self.outcomes * self._in_baseline).sum(axis=1) >= DENSE)

    @property
    def _in_baseline(self) -> Bools:
        low, high = BASELINE_DAYS
        return self.delivered & (self.age >= low) & (self.age <= high)


def trailing(values: Floats) -> Floats:
    """Sums over the seven days up to each column."""
    sums = np.cumsum(values, axis=1)
    sums[:, TRAILING:] -= sums[:, :-TRAILING].copy()
    return sums


def last(where: Bools) -> Ints:
    """Last column that is set, NEVER without one."""
    columns = where.shape[1]
    return np.where(where.any(axis=1), columns - 1 - where[:, ::-1].argmax(axis=1), NEVER)
