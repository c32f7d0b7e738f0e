"""The formulas beside plain ones, and what the rules find where there is nothing to be found."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt
from random import Random

import pytest

from api.v1.creative_patterns.statistics import Stratum, Tally, at_least, is_shown, verdicts

VALUES = 20
ADS = 200
WORLDS = 150


def plain_tail(wins: int, n: int, p: Fraction) -> Fraction:
    return sum((comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(wins, n + 1)), Fraction(0))


def plain_verdicts(kinds: list[list[tuple[int, int, int, int]]]) -> list[str]:
    """The document's rules once more, in fractions and without a shortcut: 20 pseudo-trials, 10 % quantile, BH."""
    rows = []
    for strata in kinds:
        n, wins = sum(one[0] for one in strata), sum(one[1] for one in strata)
        p0 = sum((Fraction(one[0] * one[3], one[2]) for one in strata), Fraction(0)) / n
        m = float((wins + 20 * p0) / (n + 20))
        low = m - 1.2816 * sqrt(m * (1 - m) / (n + 21))
        rows.append((n, plain_tail(wins, n, p0), low > float(p0)))
    tested = [p for n, p, _ in rows if n >= 5]
    adjusted = {}
    for p in tested:
        # the adjusted value: the least of m q / rank over all that are no smaller
        adjusted[p] = min(len(tested) * q / sum(other <= q for other in tested) for q in tested if q >= p)
    found = []
    for n, p, leads in rows:
        if n < 5 or not leads:
            found.append("inconclusive")
        else:
            found.append("confirmed" if adjusted[p] <= Fraction(1, 10) else "leading")
    return found


def world(random: Random, *, lucky: float = 0.2) -> list[Tally]:
    """200 ads of one profile with 20 values by chance; a fifth wins, of the first two values' ads `lucky`."""
    n, wins = [0] * VALUES, [0] * VALUES
    for _ in range(ADS):
        value = random.randrange(VALUES)
        n[value] += 1
        wins[value] += random.random() < (lucky if value < 2 else 0.2)
    return [Tally([Stratum(n[one], wins[one], ADS, sum(wins))]) for one in range(VALUES) if n[one] >= 5]


def test_a_kind_in_two_profiles_is_compared_with_both_as_worked_by_hand() -> None:
    # 12 of 60 ads win in one profile, 30 of 60 in the other: p0 = (6 x .2 + 4 x .5) / 10 = .32
    found = Tally([Stratum(6, 4, 60, 12), Stratum(4, 3, 60, 30)])
    assert (found.n, found.wins, found.profiles) == (10, 7, 2)
    assert found.baseline == pytest.approx(0.32)
    # (7 + 6.4) / 30, sqrt(.446667 x .553333 / 31)
    assert found.win_rate == pytest.approx(0.4466667, abs=1e-7)
    assert found.spread == pytest.approx(0.0892903, abs=1e-7)
    assert found.interval == pytest.approx((0.299790, 0.593543), abs=1e-5)
    # .4466667 - 1.2816 x .0892903 = .3322
    assert found.is_leading
    assert found.chance == pytest.approx(float(plain_tail(7, 10, Fraction(32, 100))))


def test_a_profile_that_wins_more_lifts_no_kind_that_is_common_there() -> None:
    # pooled, 24 of 40 beats 42 of 120 by far; stratified, it is what those profiles do anyway
    found = Tally([Stratum(4, 0, 60, 6), Stratum(36, 24, 60, 36)])
    assert found.baseline == pytest.approx((0.4 + 21.6) / 40)
    assert verdicts([found]) == ["inconclusive"]


@pytest.mark.parametrize(
    ("wins", "n", "p"), [(0, 5, 0.3), (5, 5, 0.3), (3, 40, 0.05), (400, 1000, 0.35), (9, 10, 0.99)]
)
def test_the_tail_is_the_binomial_one(wins: int, n: int, p: float) -> None:
    assert at_least(wins, n, p) == pytest.approx(float(plain_tail(wins, n, Fraction(p))), rel=1e-9)


def test_a_share_of_nothing_or_of_everything_has_a_tail() -> None:
    assert (at_least(0, 5, 0.0), at_least(1, 5, 0.0), at_least(5, 5, 1.0)) == (1.0, 0.0, 1.0)
    never, always = Tally([Stratum(9, 0, 50, 0)]), Tally([Stratum(9, 9, 50, 50)])
    assert verdicts([never, always]) == ["inconclusive", "inconclusive"]


def test_verdicts_are_those_of_a_plain_reckoning() -> None:
    random = Random(11)
    for _ in range(40):
        kinds = []
        for _ in range(random.randint(1, 12)):
            strata = []
            for _ in range(random.randint(1, 4)):
                profile_n = random.randint(20, 80)
                n = random.randint(1, 12)
                wins = random.randint(0, n)
                strata.append((n, wins, profile_n, random.randint(wins, profile_n - n + wins)))
            kinds.append(strata)
        tallies = [Tally([Stratum(*one) for one in strata]) for strata in kinds]
        assert verdicts(tallies) == plain_verdicts(kinds)


def test_where_nothing_is_to_be_found_the_rules_find_little() -> None:
    """Per world of 20 values: "wins 40 % of the time" finds 1.7 winners, leading .2, confirmed under .1."""
    random = Random(7)
    worlds = [world(random) for _ in range(WORLDS)]
    raw = sum(one.wins >= 0.4 * one.n for found in worlds for one in found) / WORLDS
    leading = sum(one.is_leading for found in worlds for one in found) / WORLDS
    confirmed = sum(verdicts(found).count("confirmed") for found in worlds) / WORLDS
    assert raw > 1.5
    assert 0.1 < leading < 0.35
    assert confirmed < 0.1


def test_where_two_values_win_more_leading_finds_more_of_them_than_confirmed() -> None:
    random = Random(7)
    worlds = [world(random, lucky=0.55) for _ in range(WORLDS)]
    leading = sum(one.is_leading for found in worlds for one in found) / WORLDS
    confirmed = sum(verdicts(found).count("confirmed") for found in worlds) / WORLDS
    assert leading > confirmed > 0.3


def test_with_three_profiles_a_kind_is_shown_from_three_on() -> None:
    two, three = Tally([Stratum(9, 1, 20, 2)] * 2), Tally([Stratum(3, 1, 20, 2)] * 3)
    assert [is_shown(two, fewest=8, included=included) for included in (2, 3, 9)] == [True, False, False]
    assert [is_shown(three, fewest=fewest, included=3) for fewest in (9, 10)] == [True, False]
