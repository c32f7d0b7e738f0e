"""Worlds and their variants, each a profile of its own, judged by one build."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.dbt_project.project import Project, built_once
from tests.laws.answers import Answers, read
from tests.laws.landing import land
from tests.laws.variants import VARIANTS
from tests.laws.worlds import World, drawn

WORLDS = 60
SEED = 20_261_120
JUDGED = ("+credit_daily", "+unattributed_daily", "+outcomes_daily", "+entities", "+profiles")


@dataclass(frozen=True)
class Judged:
    """A world, its variants by name, and what the build answered for each; the world itself is `base`."""

    worlds: dict[str, World]
    told: dict[str, Answers]

    @property
    def base(self) -> Answers:
        return self.told["base"]

    @property
    def world(self) -> World:
        return self.worlds["base"]


Law = Callable[[Judged], None]
Laws = Callable[[Law], None]


def families() -> list[dict[str, World]]:
    """Every drawn world with its variants, the smallest first."""
    return [
        {"base": world, **{variant.__name__: variant(world) for variant in VARIANTS}}
        for world in sorted(drawn(WORLDS, start=SEED), key=lambda world: world.size)
    ]


def ask(judged: list[Judged], law: Law) -> None:
    """Fail with the smallest world that breaks the law."""
    for one in judged:
        try:
            law(one)
        except AssertionError as broken:
            raise AssertionError(f"broken by {one.world}\n{broken}") from broken


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    """Every world with its variants and answers."""
    drawn_families = families()
    told = [world for family in drawn_families for world in family.values()]

    def build(project: Project) -> None:
        land(project.lake, told)
        project.dbt("run", "--quiet", "--select", *JUDGED)

    project = built_once(tmp_path_factory, "laws", build)
    answers = iter(read(project, told))
    return [Judged(family, {name: next(answers) for name in family}) for family in drawn_families]


@pytest.fixture
def holds(judged: list[Judged]) -> Laws:
    """Asks that a law holds in every world."""
    return functools.partial(ask, judged)
