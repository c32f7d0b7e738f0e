"""The tests of built warehouses, as questions that a warehouse with a mutant in it must answer as before."""

from __future__ import annotations

import functools
from typing import Any

from tests.dbt_project import (
    credit_worlds,
    test_credit_cases,
    test_credit_reference,
    test_delivery,
    test_identities,
    test_payment_worlds,
)
from tests.dbt_project.credit_reference import Figures, figures
from tests.laws import conftest, test_conservation, test_metamorphic
from tests.laws.answers import read
from tests.laws.conftest import Judged, Law, families
from tests.laws.worlds import World
from tests.mutation.judges import Question


@functools.cache
def _expected(seed: int) -> tuple[str, Figures]:
    profile = credit_worlds.world(seed)
    return profile.id, test_credit_reference.something(figures(profile))


def the_random_worlds(warehouse: Any) -> None:
    """As the reference tells them, to the count and the cent."""
    told = test_credit_reference.told_by(warehouse)
    for seed in credit_worlds.SEEDS:
        profile, expected = _expected(seed)
        assert test_credit_reference.something(told.get(profile, {})) == expected


def the_golden_cases(warehouse: Any) -> None:
    """As worked out by hand."""
    shares = test_credit_cases.shares_of(warehouse)
    for case in test_credit_cases.CASES:
        test_credit_cases.test_a_case_gives_the_shares_that_were_worked_out_by_hand(case, shares, warehouse)


def the_payment_worlds(warehouse: Any) -> None:
    """As what was paid and given back, in every mart."""
    tests: list[Any] = [test for test in _of(test_payment_worlds) if "credited" in test.__annotations__]
    for test in tests:
        worlds = test_payment_worlds.WORLDS if "world" in test.__annotations__ else ()
        for arguments in [{"world": world} for world in worlds] or [{}]:
            test(**arguments, credited=warehouse)


@functools.cache
def _families() -> list[dict[str, World]]:
    return families()


def law_worlds() -> list[World]:
    """The worlds of the laws, in the order of their profiles."""
    return [world for family in _families() for world in family.values()]


def the_laws(warehouse: Any) -> None:
    """Every law of tests/laws over every world."""
    answers = iter(read(warehouse, law_worlds()))
    judged = [Judged(family, {name: next(answers) for name in family}) for family in _families()]

    def holds(law: Law) -> None:
        conftest.ask(judged, law)

    for module in (test_conservation, test_metamorphic):
        for name, test in vars(module).items():
            variants = [mark.args[1] for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
            if name.startswith("test_") and "holds" in test.__annotations__:
                for arguments in [(variant,) for variant in variants[0]] if variants else [()]:
                    test(*arguments, holds=holds)


def _of(module: Any) -> list[Question]:
    return [test for name, test in vars(module).items() if name.startswith("test_")]


OF: dict[str, list[Question]] = {
    "credited": [the_random_worlds, the_golden_cases, the_payment_worlds],
    "small": [*_of(test_identities), *_of(test_delivery)],
    "laws": [the_laws],
}
