"""Two worlds that differ in one known way differ in their answers in one known way, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from fractions import Fraction

import pytest

from tests.laws.answers import LEVELS, MODELS, Answers
from tests.laws.conftest import Judged, Laws
from tests.laws.landing import EUR_RATE
from tests.laws.variants import K
from tests.laws.worlds import PAYMENT, Outcome

# what one cent can move between two profiles: leftover units go by a hash that the profile's id is part of
SWAY = 1


def _same_but_for_ties(mine: Answers, theirs: Answers) -> None:
    assert mine.weights == theirs.weights
    assert mine.money == theirs.money
    _near(mine, theirs, mine.cents)
    assert _counts(mine) == _counts(theirs)
    assert {d: v for d, v in mine.totals.items() if any(v)} == {d: v for d, v in theirs.totals.items() if any(v)}


def _near(mine: Answers, theirs: Answers, refs: Mapping[str, object], *, times: int = 1, by: int = SWAY) -> None:
    for ref in refs:
        for model, places in mine.cents[ref].items():
            assert places.keys() == theirs.cents[ref][model].keys()
            assert all(abs(theirs.cents[ref][model][place] - times * cents) <= by for place, cents in places.items())


def _counts(told: Answers) -> dict[tuple[object, ...], list[int]]:
    cells = {**told.credit, **told.unattributed}
    return {cell: values[:7] for cell, values in cells.items() if any(values[:7])}


@pytest.mark.parametrize("variant", ["renamed", "shuffled", "repeated", "crowded", "claimed"])
def test_what_must_not_matter_changes_no_weight_no_count_and_no_total(variant: str, holds: Laws) -> None:
    holds(lambda one: _same_but_for_ties(one.base, one.told[variant]))


def test_three_weeks_later_everything_is_the_same_three_weeks_later(holds: Laws) -> None:
    def law(one: Judged) -> None:
        later = one.told["shifted"]
        assert one.base.weights == later.weights
        assert one.base.money == later.money
        if one.world.time_zone != "America/New_York":
            moved = {(m, a, d + timedelta(days=21), e): v for (m, a, d, e), v in _counts(one.base).items()}
            assert moved == _counts(later)

    holds(law)


def test_in_reverse_first_and_last_change_places_and_linear_stays(holds: Laws) -> None:
    def law(one: Judged) -> None:
        there, back = one.told["lined_up"].weights, one.told["backwards"].weights
        assert there.keys() == back.keys()
        for ref, models in there.items():
            assert models["first_touch"] == back[ref]["last_touch"]
            assert models["last_touch"] == back[ref]["first_touch"]
            assert models["linear"] == back[ref]["linear"]

    holds(law)


def test_without_decay_time_decay_is_linear(holds: Laws) -> None:
    def law(one: Judged) -> None:
        assert one.base.weights.keys() == one.told["undecaying"].weights.keys()
        for models in one.told["undecaying"].weights.values():
            for place, weight in models["time_decay"].items():
                assert abs(weight - models["linear"][place]) < Fraction(1, 10**6)

    holds(law)


def test_with_sudden_decay_time_decay_is_last_touch_shared_by_the_newest_second(holds: Laws) -> None:
    def law(one: Judged) -> None:
        world, told = one.worlds["sudden"], one.told["sudden"]
        for outcome in world.outcomes:
            path = [t for t in world.touches if t.person == outcome.person and t.at <= outcome.at]
            assert (outcome.key in told.weights) == bool(path)
            newest = [touch for touch in path if touch.at == max(t.at for t in path)]
            for place, weight in told.weights.get(outcome.key, {}).get("time_decay", {}).items():
                share = Fraction(sum(_place(touch.place) == place for touch in newest), len(newest))
                assert abs(weight - share) < Fraction(1, 10**4)

    holds(law)


def test_at_one_second_the_winner_is_not_direct_and_then_goes_by_the_bytes_of_its_key(holds: Laws) -> None:
    def law(one: Judged) -> None:
        world, told = one.worlds["sudden"], one.told["sudden"]
        for outcome in world.outcomes:
            path = [t for t in world.touches if t.person == outcome.person and t.at <= outcome.at]
            if path:
                last = max(path, key=lambda t: (t.at, t.place != "direct", t.key))
                first = min(path, key=lambda t: (t.at, t.place == "direct", t.key))
                assert told.weights[outcome.key]["last_touch"] == {_place(last.place): 1}
                assert told.weights[outcome.key]["first_touch"] == {_place(first.place): 1}

    holds(law)


def _place(named: str) -> str:
    return {"organic": "other_channel", "paid": "paid_without_ad", "ad:unsynced": "unknown_ad"}.get(named, named)


def test_a_longer_look_back_loses_no_attributed_outcome_and_moves_no_last_touch(holds: Laws) -> None:
    def law(one: Judged) -> None:
        narrow, wide = one.base.weights, one.told["wider"].weights
        assert narrow.keys() <= wide.keys()
        for ref, models in narrow.items():
            assert models["last_touch"] == wide[ref]["last_touch"]
            assert models["linear"].keys() <= wide[ref]["linear"].keys()

    holds(law)


def test_money_times_k_is_value_times_k_and_the_same_counts(holds: Laws) -> None:
    def law(one: Judged) -> None:
        more = one.told["scaled"]
        assert one.base.weights == more.weights
        assert _counts(one.base) == _counts(more)
        dollars = {row.key for row in one.world.outcomes if row.currency == "USD"}
        for ref, money in one.base.money.items():
            if money is not None and ref in dollars:
                assert more.money[ref] == K * money
        _near(one.base, more, {ref: 0 for ref in one.base.cents if ref in dollars}, times=K, by=K)

    holds(law)


def test_a_refund_lowers_value_by_itself_and_no_count(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for variant in ("half_refunded", "wholly_refunded"):
            told = one.told[variant]
            assert told.weights == one.base.weights
            assert _counts(told) == _counts(one.base)
            for row in one.worlds[variant].outcomes:
                assert told.money[row.key] == _net(row)
            assert all(cents >= 0 for m in told.cents.values() for places in m.values() for cents in places.values())

    holds(law)


def _net(row: Outcome) -> int | None:
    """Minor units of the reporting currency, rounded half to even once, after what went back."""
    rate = Fraction(EUR_RATE) if row.currency == "EUR" else Fraction(1)
    return None if row.cents is None else round((row.cents - row.refunded) * rate)


def test_an_amount_is_converted_at_its_rate_and_rounded_once(holds: Laws) -> None:
    def law(one: Judged) -> None:
        assert one.base.money == {row.key: _net(row) for row in one.world.outcomes}

    holds(law)


def test_a_renewal_has_the_weights_of_the_first_payment_whatever_was_clicked_between(holds: Laws) -> None:
    def law(one: Judged) -> None:
        told = one.told["renewed"]
        for row in one.worlds["renewed"].outcomes:
            assert told.weights.get(row.key) == one.base.weights.get(row.renews or row.key)
            assert told.money[row.key] == one.base.money[row.renews or row.key]
            for model, places in told.cents[row.key].items() if row.renews else ():
                first = told.cents[row.renews or ""][model]
                assert all(abs(cents - first[place]) <= SWAY for place, cents in places.items())

    holds(law)


def test_outcomes_add_up_whether_they_come_alone_or_together(holds: Laws) -> None:
    def law(one: Judged) -> None:
        parts = [one.told["even"], one.told["odd"]]
        assert one.base.weights == {**parts[0].weights, **parts[1].weights}
        for model in MODELS:
            for level in LEVELS:
                for name in ("credit", "unattributed"):
                    whole = one.base.count(getattr(one.base, name), model, level)
                    added = [part.count(getattr(part, name), model, level) for part in parts]
                    assert whole[:7] == [a + b for a, b in zip(added[0][:7], added[1][:7], strict=True)]
        cash = [sum(values[7] for values in told.totals.values()) for told in (one.base, *parts)]
        assert cash[0] == cash[1] + cash[2]

    holds(law)


def test_the_worlds_hold_payments_in_two_currencies_and_people_nobody_knows(judged: list[Judged]) -> None:
    rows = [row for one in judged for row in one.world.outcomes]
    assert {row.currency for row in rows if row.type == PAYMENT} == {"USD", "EUR"}
    assert any(row.person is None for row in rows)
