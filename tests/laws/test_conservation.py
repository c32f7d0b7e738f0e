"""Nothing is lost or invented: weights add up to one, cents to the outcome, rows to the profile's totals."""

from __future__ import annotations

from fractions import Fraction

from tests.laws.answers import LEVELS, MODELS, SINGLE
from tests.laws.conftest import Judged, Laws
from tests.laws.worlds import ADS

PARENTS = {"ad": {ad: ad_set for ad, (ad_set, _) in ADS.items()}, "ad_set": dict(ADS.values())}


def test_the_weights_of_a_path_are_positive_and_add_up_to_one(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            for models in told.weights.values():
                assert set(models) == set(MODELS)
                assert all(sum(places.values()) == 1 for places in models.values())
                assert all(0 < weight <= 1 for places in models.values() for weight in places.values())
                assert all(len(models[model]) == 1 for model in SINGLE)

    holds(law)


def test_the_cents_of_an_outcome_add_up_to_it_and_each_is_its_share_to_a_cent(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            for ref, models in told.weights.items():
                money = told.money[ref]
                if money is None:
                    assert ref not in told.cents
                    continue
                for model, places in models.items():
                    cents = told.cents[ref][model]
                    assert sum(cents.values()) == money
                    assert all(abs(cents[place] - weight * money) < 1 for place, weight in places.items())

    holds(law)


def test_rows_and_unattributed_add_up_to_all_cash_under_each_model_and_level(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            cash = sum(values[7] for values in told.totals.values())
            for model in MODELS:
                for level in LEVELS:
                    rows, rest = (told.count(cells, model, level)[7] for cells in (told.credit, told.unattributed))
                    assert rows + rest == cash
                    assert rows >= 0 <= rest

    holds(law)


def test_single_credit_counts_and_unattributed_add_up_for_every_type_and_day(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            for model in SINGLE:
                for level in LEVELS:
                    for day, all_of_it in told.totals.items():
                        cells = [told.credit, told.unattributed]
                        mine = [v for c in cells for (m, a, d, _), v in c.items() if (m, a, d) == (model, level, day)]
                        assert [sum(values[n] for values in mine) for n in range(7)] == all_of_it[:7]

    holds(law)


def test_an_outcome_is_credited_or_unattributed_and_never_both(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            outcomes = len(told.money)
            for model in MODELS:
                for level, named in zip(LEVELS, (("campaign", "ad_set", "ad"), ("ad_set", "ad"), ("ad",)), strict=True):
                    credited = sum(
                        any(place.startswith(tuple(f"{kind}:" for kind in named)) for place in models[model])
                        for models in told.weights.values()
                    )
                    assert credited + sum(told.count(told.unattributed, model, level)[:7]) == outcomes

    holds(law)


def test_the_outcomes_without_a_path_are_the_same_under_all_models(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            for level in LEVELS:
                none = {
                    model: {d: v[:8] for (m, a, d, reason), v in told.unattributed.items()
                            if (m, a, reason) == (model, level, "no_touch")}
                    for model in MODELS
                }  # fmt: skip
                assert all(none[model] == none["linear"] for model in MODELS)

    holds(law)


def test_a_path_of_one_touch_gives_five_equal_answers(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            for models in told.weights.values():
                if models["linear"] and len(models["linear"]) == 1:
                    assert all(places == models["linear"] for places in models.values())

    holds(law)


def test_without_direct_touches_or_with_nothing_else_last_non_direct_is_last_touch(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            for models in told.weights.values():
                if "direct" not in models["linear"] or set(models["linear"]) == {"direct"}:
                    assert models["last_non_direct"] == models["last_touch"]
                else:
                    assert "direct" not in models["last_non_direct"]

    holds(law)


def test_under_time_decay_the_newer_touch_never_weighs_less_and_equal_ages_weigh_the_same(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            for alone in told.ages.values():
                ordered = sorted(alone)
                weights = dict(ordered)
                assert all(weight == weights[ts] for ts, weight in ordered)
                assert list(weights.values()) == sorted(weights.values())

    holds(law)


def test_an_entity_has_no_less_than_any_model_or_child_can_give_it(holds: Laws) -> None:
    def law(one: Judged) -> None:
        for told in one.told.values():
            for (model, level, day, entity), values in told.credit.items():
                linear = told.credit["linear", level, day, entity]
                assert all(mine <= most for mine, most in zip(values[:7], linear[:7], strict=True))
                if model == "time_decay":
                    assert values[:7] == linear[:7]
                if level != "campaign":
                    parent = told.credit[model, "ad_set" if level == "ad" else "campaign", day, PARENTS[level][entity]]
                    assert all(mine <= most for mine, most in zip(values, parent, strict=True))

    holds(law)


def test_where_every_touch_names_an_ad_the_levels_have_equal_cash(holds: Laws) -> None:
    seen = 0

    def law(one: Judged) -> None:
        nonlocal seen
        for told in one.told.values():
            places = {place for models in told.weights.values() for place in models["linear"]}
            if places and all(place.startswith("ad:") for place in places):
                seen += 1
                for model in MODELS:
                    assert len({told.count(told.credit, model, level)[7] for level in LEVELS}) == 1

    holds(law)
    assert seen


def test_the_worlds_are_not_empty_and_hold_paths_of_many_touches(judged: list[Judged]) -> None:
    paths = [models["linear"] for one in judged for told in one.told.values() for models in told.weights.values()]
    assert len(paths) > 1_000
    assert sum(len(path) > 3 for path in paths) > 100
    assert any(weight.denominator > 2 for path in paths for weight in path.values())
    assert Fraction(1) in {weight for path in paths for weight in path.values()}
