"""Every fault in every walk: nothing half, few requests, no dead token asked twice, and the ledger's figures after."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests import faults_page
from tests.connectors import fault_plan
from tests.connectors.fault_plan import FAULTS, Fault
from tests.connectors.walks import WALKS, Walk, small_pages
from tests.fixtures.sandbox import TODAY, RunningSandbox

CASES = [(walk, fault) for walk in WALKS for fault in FAULTS if fault_plan.happens(fault, walk)]


@pytest.fixture(scope="module")
def small() -> Iterator[RunningSandbox]:
    with small_pages(), fault_plan.small_sandbox() as running:
        yield running


@pytest.fixture(scope="module")
def pages(small: RunningSandbox) -> dict[str, int]:
    """How many requests each walk takes when nothing goes wrong."""
    found = {}
    for walk in WALKS:
        run = fault_plan.undisturbed(small, walk)
        assert (run.came, run.ended) == (walk.truth(small.world), None), walk.name
        found[walk.name] = run.requests
    return found


@pytest.mark.parametrize(("walk", "fault"), CASES, ids=lambda part: part.name.replace(" ", "-"))
def test_a_walk_gives_the_ledger_or_whole_parts_of_it_within_its_bound(
    small: RunningSandbox, pages: dict[str, int], walk: Walk, fault: Fault
) -> None:
    case = fault_plan.played(small, walk, fault, pages[walk.name])
    truth = walk.truth(small.world)
    ends, at_once = fault_plan.expected(fault, walk)
    assert case.passing.ended == (ends if at_once else None)
    assert case.lasting.ended == ends
    for run in (case.passing, case.lasting):
        assert run.hits > 0, "the fault never struck"
        assert run.requests <= case.most
        assert run.came == (truth if run.ended is None else {unit: truth[unit] for unit in run.came})
    if at_once:
        assert (case.passing.hits, case.lasting.hits) == (1, 1)
    elif "waits" in walk.has:
        assert max(case.passing.slept, default=0.0) >= fault.told_wait
    assert case.after.came == truth
    assert faults_page.cells()[fault.name, walk.name] == fault_plan.told(fault, walk, case)


@pytest.mark.parametrize("walk", [walk for walk in WALKS if "revised" in walk.has], ids=lambda walk: walk.name)
def test_figures_that_are_revised_are_read_as_they_are_now(
    small: RunningSandbox, pages: dict[str, int], walk: Walk
) -> None:
    before = walk.truth(small.world)
    try:
        small.holder.see_as_of(TODAY + timedelta(days=28))
        run = fault_plan.undisturbed(small, walk)
        assert run.came == walk.truth(small.world) != before
    finally:
        small.holder.see_as_of(TODAY)
    assert run.requests == pages[walk.name]


def test_the_page_tells_every_fault_and_every_walk(pages: dict[str, int]) -> None:
    cells = faults_page.cells()
    assert {walk.name: cells["none", walk.name] for walk in WALKS} == {name: str(n) for name, n in pages.items()}
    for fault in FAULTS:
        assert cells[fault.name, "The walk"] == fault_plan.ending(fault)
        unhappened = [walk.name for walk in WALKS if not fault_plan.happens(fault, walk)]
        assert [cells[fault.name, name] for name in unhappened] == [faults_page.NEVER] * len(unhappened)
    assert (fault_plan.REVISION, WALKS[0].name) in cells


def test_some_whole_days_are_there_before_a_walk_ends_midway(small: RunningSandbox, pages: dict[str, int]) -> None:
    revoked = next(fault for fault in FAULTS if fault.ends == "connection_revoked")
    for walk in WALKS[:2]:
        run = fault_plan.lasting(small, walk, revoked)
        assert 0 < len(run.came) < len(walk.truth(small.world)) and pages
