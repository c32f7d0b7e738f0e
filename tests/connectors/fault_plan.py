"""What goes wrong at a provider, and what a walk makes of it: while it passes, while it lasts, and afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from connectors import meta_graph, stripe_lists
from connectors.errors import ConnectorError
from connectors.transport import Answer, Policy, Request, Transport
from sandbox.app import create_sandbox
from sandbox.shopify import Bucket
from sandbox.world import WorldHolder, build
from tests.connectors.walks import Walk
from tests.fixtures.sandbox import TODAY, RunningSandbox, served

ATTEMPTS, PASSING = 4, 2
POLICY = Policy(attempts=ATTEMPTS, longest_wait=120.0, first_backoff=0.01, longest_backoff=0.02, read_timeout=60.0)
IMPATIENT = Policy(attempts=2, first_backoff=0.01, longest_backoff=0.02, read_timeout=0.2)
REVISION = "figures of the last 28 days revised"
# where answers carry a code and pages their number and size, what does not fit is asked for again
COUNTED = {"JSON of another shape", "every row twice"}
RESTARTED = 1 + max(meta_graph.RESTARTS, stripe_lists.RESTARTS)


@dataclass(frozen=True)
class Fault:
    """One row of the plan.

    `ends` is how a walk fails while the fault lasts, None when it does not; `ends_at_once` says that one strike is
    enough. `needs` is what a walk must have for the fault to happen in it. A walk may ask `pages * times + retries`
    times. `told_wait` is the wait, in seconds, that the provider asks for. `after` so many calls it strikes first,
    where that is not the walk's own middle.
    """

    name: str
    plan: dict[str, Any]
    ends: str | None = None
    ends_at_once: bool = False
    needs: str | None = None
    times: int = 1
    retries: int = ATTEMPTS
    passing: int = PASSING
    policy: Policy = POLICY
    told_wait: float = 0.0
    after: int | None = None


@dataclass
class Run:
    """One walk: what came whole, how often it asked, how it ended (None: well), what it waited."""

    came: dict[str, Any] = field(default_factory=dict)
    requests: int = 0
    hits: int = 0
    ended: str | None = None
    slept: list[float] = field(default_factory=list)


FAULTS = (
    Fault("429 that names a wait", {"kind": "status", "status": 429, "headers": {"Retry-After": "7"}},
          "throttled", told_wait=7.0),
    Fault("429 without a wait", {"kind": "status", "status": 429}, "throttled"),
    Fault("the platform's own throttling", {"kind": "throttled", "wait": 60}, "throttled", told_wait=60.0),
    Fault("throttled for longer than a run waits", {"kind": "throttled", "wait": 600}, "throttled", ends_at_once=True,
          needs="waits"),
    Fault("500", {"kind": "status", "status": 500}, "transient"),
    Fault("503", {"kind": "status", "status": 503}, "transient"),
    Fault("HTML instead of JSON, 502", {"kind": "html"}, "transient"),
    Fault("HTML instead of JSON, 200", {"kind": "html", "status": 200}, "malformed"),
    Fault("truncated body", {"kind": "truncation"}, "malformed"),
    Fault("truncated body, length announced", {"kind": "truncation", "message": "announced"}, "connection"),
    Fault("slower than the read timeout", {"kind": "delay", "seconds": 5.0}, "timeout", passing=1, policy=IMPATIENT,
          retries=2),
    Fault("connection reset", {"kind": "reset"}, "connection"),
    Fault("JSON of another shape", {"kind": "shape"}, "malformed", ends_at_once=True),
    Fault("expired cursor", {"kind": "cursor_expires"}, "cursor_expired", needs="cursor", times=RESTARTED,
          after=0),
    Fault("repeated page", {"kind": "duplicate_page"}, "malformed", needs="pages"),
    Fault("every row twice", {"kind": "double_rows"}, needs="rows"),
    Fault("rows in another order", {"kind": "reorder"}, needs="rows"),
    Fault("token revoked mid-walk", {"kind": "revoked"}, "connection_revoked", ends_at_once=True),
    Fault("report run fails", {"kind": "report_failed", "method": "POST"}, "report_failed", needs="report", times=2,
          after=1),
    Fault("report run stuck", {"kind": "report_stuck", "method": "POST"}, "report_failed", needs="report", times=5,
          after=1),
)  # fmt: skip


@contextmanager
def small_sandbox() -> Iterator[RunningSandbox]:
    """A sandbox with a world of its own, small enough to be walked many times."""
    holder = WorldHolder(build(seed=7, today=TODAY, days=20, people=60))
    app = create_sandbox(holder, Bucket(maximum=1e9))
    with served(app) as url:
        yield RunningSandbox(url, holder, app)


class Impatient(Transport):
    """Waits as long as its policy says for what the plan makes late, and longer than any machine takes for the rest."""

    sandbox: RunningSandbox

    def _exchange(self, request: Request, provider: str) -> Answer:
        fault = self.sandbox.faults()[0]
        is_next = fault["seen"] >= fault["after"] and (fault["times"] is None or fault["hits"] < fault["times"])
        is_late = is_next and re.search(fault["route"], urlsplit(request.url).path)
        self.policy = replace(self.policy, read_timeout=IMPATIENT.read_timeout if is_late else 60.0)
        return super()._exchange(request, provider)


def walked(sandbox: RunningSandbox, walk: Walk, policy: Policy = POLICY) -> Run:
    """Read to the end, or to what ends it."""
    run = Run()
    with (Impatient if policy is IMPATIENT else Transport)(policy, sleep=run.slept.append) as transport:
        if isinstance(transport, Impatient):
            transport.sandbox = sandbox
        try:
            for unit, figures in walk.read(sandbox.url, transport):
                run.came[unit] = figures
        except ConnectorError as error:
            run.ended = error.reason
        run.requests = transport.requests
    run.hits = sum(sandbox.hits())
    return run


def passing(sandbox: RunningSandbox, walk: Walk, fault: Fault) -> Run:
    """The walk with a fault that goes by."""
    after = 1 if fault.after is None else fault.after
    sandbox.plan({"route": walk.route, **fault.plan, "after": after, "times": fault.passing})
    return walked(sandbox, walk, fault.policy)


def lasting(sandbox: RunningSandbox, walk: Walk, fault: Fault) -> Run:
    """The walk with a fault that begins midway and stays."""
    after = walk.midway if fault.after is None else fault.after
    sandbox.plan({"route": walk.route, **fault.plan, "after": after, "times": None})
    return walked(sandbox, walk, fault.policy)


def undisturbed(sandbox: RunningSandbox, walk: Walk) -> Run:
    """The walk when nothing goes wrong."""
    sandbox.plan()
    return walked(sandbox, walk)


def happens(fault: Fault, walk: Walk) -> bool:
    """Whether the fault can happen in such a walk."""
    return fault.needs is None or fault.needs in walk.has


def most(fault: Fault, pages: int) -> int:
    """The requests that a walk of so many pages may need, whatever the fault does."""
    return pages * fault.times + fault.retries


@dataclass(frozen=True)
class Played:
    """A walk under a fault that passes, under one that lasts, and after that; `most` bounds the requests of each."""

    passing: Run
    lasting: Run
    after: Run
    most: int


def played(sandbox: RunningSandbox, walk: Walk, fault: Fault, pages: int) -> Played:
    """One case of the plan."""
    passed, stayed = passing(sandbox, walk, fault), lasting(sandbox, walk, fault)
    return Played(passed, stayed, undisturbed(sandbox, walk) if stayed.ended else stayed, most(fault, pages))


def expected(fault: Fault, walk: Walk) -> tuple[str | None, bool]:
    """How the walk ends while the fault lasts, and whether one strike is enough."""
    if "numbered" in walk.has and fault.name in COUNTED:
        return "malformed", False
    return fault.ends, fault.ends_at_once


def told(fault: Fault, walk: Walk, case: Played) -> str:
    """The case as the page shows it; how often a slow answer is given up depends on the machine."""
    if fault.policy is IMPATIENT:
        return f"at most {case.most}"
    numbers = f"{case.passing.requests} and {case.lasting.requests} of {case.most}"
    ends, at_once = expected(fault, walk)
    return numbers if (ends, at_once) == (fault.ends, fault.ends_at_once) else f"{numbers}; while it lasts: {ends}"


def ending(fault: Fault) -> str:
    """What every walk makes of the fault, in a word."""
    if fault.ends is None:
        return "reads all"
    return f"ends at once: {fault.ends}" if fault.ends_at_once else f"reads all; while it lasts: {fault.ends}"
