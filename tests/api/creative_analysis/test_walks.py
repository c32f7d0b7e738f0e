"""However analyses are asked for, worked off, lost and refused, each is what a plain list of jobs says it must be."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask import Flask, Response

from api import db
from api.audit import Actor
from api.creative_analysis import ordering
from api.creative_analysis.findings import Creative
from api.creative_analysis.ordering import PER_PROFILE, Refused, Shown
from api.creative_analysis.working import AT_ONCE, LONGEST, WAITS, analyse_due
from api.models import CreativeAnalysis, Profile
from tests.fixtures.sandbox import served
from touchledger.settings import Settings

START = datetime(2026, 3, 10, 6, tzinfo=UTC)
SEEDS, STEPS = (1, 2, 3), 120
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
UNSAID = {**dict.fromkeys(("hook_type", "cta_type", "primary_angle", "language")), "creative_format": "static"}
GOOD = {**UNSAID, "offers": [], "confidence": 0.5, "analyzer": "walk/1"}
# what the analyser answers, and why the job is tried again
MOODS: dict[str, tuple[Any, int, str | None]] = {
    "good": (GOOD, 200, None),
    "down": ({}, 500, "transient"),
    "busy": ({}, 429, "throttled"),
    "closed": ({}, 401, "analyser_token_refused"),
    "refusing": ({}, 422, "refused"),
    "other words": ({**GOOD, "creative_format": "oil on canvas"}, 200, "malformed"),
    "no JSON": ("<html>", 200, "malformed"),
}


@dataclass
class Job:
    """What must be kept of one analysis."""

    key: tuple[str, str]
    at: datetime
    due: datetime
    status: str = "queued"
    attempts: int = 0
    begun: datetime | None = None
    reason: str | None = None
    ended: datetime | None = None


@dataclass
class Jobs:
    """All analyses of a profile, by id, and the calls that were admitted."""

    known: dict[str, Job] = field(default_factory=dict)
    calls: list[datetime] = field(default_factory=list)

    def expected(self, key: tuple[str, str], at: datetime) -> str | None:
        """The job that answers, "new", or None for a refusal."""
        found = [id_ for id_, one in self.known.items() if one.key == key and one.status != "failed"]
        found = [id_ for id_ in found if self.known[id_].at > at - DAY]
        if found:
            return max(found, key=lambda id_: (self.known[id_].at, id_))
        if sum(1 for call in self.calls if call > at - HOUR) >= ordering.CALLS.limit:
            return None
        self.calls.append(at)
        today = sum(1 for one in self.known.values() if one.at.date() == at.date())
        return "new" if today < PER_PROFILE else None

    def worked_off(self, at: datetime, reason: str | None) -> None:
        for one in self.known.values():
            if one.status == "running" and one.begun is not None and one.begun < at - LONGEST:
                one.status, one.reason, one.ended = "failed", "timed_out", at
        due = [(one.due, id_) for id_, one in self.known.items() if one.status == "queued" and one.due <= at]
        for _, id_ in sorted(due)[:AT_ONCE]:
            one = self.known[id_]
            one.begun = at
            if reason is None:
                one.status, one.ended = "succeeded", at
            elif one.attempts == len(WAITS):
                one.status, one.reason, one.ended = "failed", reason, at
            else:
                one.due, one.attempts = at + WAITS[one.attempts], one.attempts + 1


@pytest.fixture
def moods(settings: Settings) -> Iterator[tuple[Settings, list[str]]]:
    """Settings with an analyser that answers as the last of the moods says."""
    app, said = Flask(__name__), ["good"]

    @app.post("/")
    def answer() -> tuple[Any, int]:
        body, status, _ = MOODS[said[-1]]
        return (Response(body, mimetype="text/html") if isinstance(body, str) else body), status

    with served(app) as url:
        yield settings.model_copy(update={"creative_analyser": "http", "creative_analyser_url": url}), said


@pytest.mark.parametrize("seed", SEEDS)
def test_every_analysis_is_where_a_plain_list_says(
    seed: int, moods: tuple[Settings, list[str]], profile: Profile
) -> None:
    chance, jobs, ends = random.Random(seed), Jobs(), Counter[str]()
    settings, said = moods
    with time_machine.travel(START, tick=False) as clock:
        for _ in range(STEPS):
            clock.shift(timedelta(seconds=chance.choice([0, 1, 60, 61, 300, 900, 3600, 6 * 3600])))
            step = chance.random()
            if step < 0.45:
                asked(settings, profile, jobs, (f"ad{chance.randrange(9)}", chance.choice("ab")), ends)
            elif step < 0.55:
                taken_by_who_dies(settings, jobs, chance)
            else:
                said.append(chance.choice([*MOODS, "down", "good"]))
                analyse_due(settings)
                jobs.worked_off(db.now(), MOODS[said[-1]][2])
            compared(settings, jobs)
    ends.update(one.reason or one.status for one in jobs.known.values())
    assert {"new", "repeat", "succeeded", "timed_out"} <= set(ends), ends


def asked(settings: Settings, profile: Profile, jobs: Jobs, key: tuple[str, str], ends: Counter[str]) -> None:
    shown = Shown(key[0], "1", key[1], Creative("image", None, "Why?", None, None, None))
    by = Actor("api_key", "k", profile.workspace_id, profile.id)
    expected = jobs.expected(key, db.now())
    answer = ordering.order(settings.operational_url, profile_id=profile.id, account="k", shown=shown, by=by)
    if isinstance(answer, Refused):
        assert expected is None
        ends[answer.reason] += 1
        return
    assert expected == (answer.job.id if answer.reused else "new")
    ends["repeat" if answer.reused else "new"] += 1
    jobs.known.setdefault(answer.job.id, Job(key, db.now(), db.now()))


def taken_by_who_dies(settings: Settings, jobs: Jobs, chance: random.Random) -> None:
    """A worker takes a job and is never seen again."""
    waiting = [id_ for id_, one in jobs.known.items() if one.status == "queued"]
    if not waiting:
        return
    id_ = chance.choice(waiting)
    with db.transaction(settings.operational_url) as session:
        job = session.get_one(CreativeAnalysis, id_)
        job.status, job.begun_at = "running", db.now()
    jobs.known[id_].status, jobs.known[id_].begun = "running", db.now()


def compared(settings: Settings, jobs: Jobs) -> None:
    with db.transaction(settings.operational_url) as session:
        kept = {one.id: one for one in session.scalars(sa.select(CreativeAnalysis))}
    found = {
        id_: Job((one.ad_id, one.creative_hash), one.requested_at, one.next_attempt_at, one.status, one.attempts,
                 one.begun_at, one.failure_reason, one.finished_at)
        for id_, one in kept.items()
    }  # fmt: skip
    assert found == jobs.known
    assert all((one.result is not None) == (one.status == "succeeded") for one in kept.values())
