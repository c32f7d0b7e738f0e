"""Analyses worked off: what is found, what is tried again, and when it is given up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask, request

from api import db
from api.beside import beside
from api.creative_analysis import working
from api.creative_analysis.working import analyse_due
from api.models import CreativeAnalysis, Profile
from tests.fixtures.sandbox import served
from touchledger.settings import Settings

START = datetime(2026, 3, 10, 12, tzinfo=UTC)
Queue = Callable[..., str]


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


@pytest.fixture
def queue(settings: Settings, profile: Profile, clock: object) -> Queue:
    """One more job; gives its id."""

    def queued(**members: Any) -> str:
        shown = {"format": "image", "title": "Why?", "body": None, "call_to_action": "SHOP_NOW"}
        shown |= {"video_id": None, "thumbnail_url": None}
        plain = {"ad_id": "a", "ad_external_id": "1", "creative_hash": "h", "account": "k", "creative": shown}
        with db.transaction(settings.operational_url) as session:
            job = CreativeAnalysis(profile_id=profile.id, **{**plain, **members})
            session.add(job)
        return job.id

    return queued


def kept(settings: Settings, job_id: str) -> CreativeAnalysis:
    with db.transaction(settings.operational_url) as session:
        return session.get_one(CreativeAnalysis, job_id)


@pytest.fixture
def unreachable(settings: Settings) -> Settings:
    """Settings that name an analyser where nobody listens."""
    away = {"creative_analyser": "http", "creative_analyser_url": "http://127.0.0.1:9/"}
    return settings.model_copy(update=away)


def test_what_the_rules_read_is_the_result(settings: Settings, queue: Queue) -> None:
    job_id = queue()
    assert analyse_due(settings) == 1
    job = kept(settings, job_id)
    assert (job.status, job.failure_reason, job.begun_at, job.finished_at) == ("succeeded", None, START, START)
    assert job.result == {
        "hook_type": "question", "creative_format": "static", "cta_type": "shop_now", "primary_angle": None,
        "offers": [], "language": None, "confidence": 0.6625, "analyzer": "rules/2",
    }  # fmt: skip
    assert analyse_due(settings) == 0


def test_an_analyser_that_does_not_answer_is_asked_again_after_1_5_and_15_minutes(
    unreachable: Settings, queue: Queue, clock: time_machine.Traveller
) -> None:
    job_id = queue()
    seen = []
    for minutes in (0, 0.5, 0.5, 4, 1, 14, 1, 60):
        clock.shift(timedelta(minutes=minutes))
        analyse_due(unreachable)
        job = kept(unreachable, job_id)
        seen.append((job.attempts, job.status))
    assert seen == [
        (1, "queued"), (1, "queued"), (2, "queued"), (2, "queued"), (3, "queued"), (3, "queued"),
        (3, "failed"), (3, "failed"),
    ]  # fmt: skip
    assert (job.failure_reason, job.result) == ("connection", None)
    assert job.finished_at == START + timedelta(minutes=21)


def test_a_job_that_runs_longer_than_ten_minutes_has_failed(
    settings: Settings, queue: Queue, clock: time_machine.Traveller
) -> None:
    job_id = queue(status="running", begun_at=START)
    clock.shift(timedelta(minutes=10))
    analyse_due(settings)
    assert kept(settings, job_id).status == "running"
    clock.shift(timedelta(seconds=1))
    analyse_due(settings)
    job = kept(settings, job_id)
    assert (job.status, job.failure_reason) == ("failed", "timed_out")


def test_a_creative_that_an_analyser_breaks_on_is_postponed_and_the_next_one_is_read(
    settings: Settings, queue: Queue
) -> None:
    broken, good = queue(creative={"format": "image"}), queue()
    assert analyse_due(settings) == 1
    assert (kept(settings, broken).status, kept(settings, broken).attempts) == ("queued", 1)
    assert kept(settings, good).status == "succeeded"


def test_an_analyser_that_takes_its_time_is_asked_no_more_until_the_other_chores_had_their_turn(
    unreachable: Settings, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "LONGEST_BATCH", 0.0)
    ids = [queue() for _ in range(3)]
    for tried in (1, 2, 3):
        analyse_due(unreachable)
        assert [kept(unreachable, one).attempts for one in ids] == [1] * tried + [0] * (3 - tried)


def test_a_slow_analyser_keeps_the_other_chores_waiting_no_longer_than_a_round(
    settings: Settings, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    # mail and webhooks waited two minutes for each creative of an analyser that hung
    job_id, came, answering, asked = queue(), threading.Event(), threading.Event(), list[str]()
    app = Flask(__name__)

    @app.post("/")
    def answer() -> dict[str, Any]:
        asked.append(request.get_json()["creative"]["title"])
        came.set()
        answering.wait(120)
        unsaid = dict.fromkeys(("hook_type", "cta_type", "primary_angle", "language"))
        return {**unsaid, "creative_format": "static", "offers": [], "confidence": 0.5, "analyzer": "slow/1"}

    with served(app) as url:
        away = {"creative_analyser": "http", "creative_analyser_url": url}
        slow = settings.model_copy(update=away)
        monkeypatch.setattr("api.beside.PATIENCE", 0.3)
        round_ = beside(analyse_due)
        assert round_(slow) == 0 and came.wait(60)
        assert (round_(slow), asked) == (0, ["Why?"])
        assert kept(settings, job_id).status == "running"
        answering.set()
        monkeypatch.setattr("api.beside.PATIENCE", 60)
        assert (round_(slow), kept(settings, job_id).status) == (1, "succeeded")


def test_where_nothing_is_analysed_jobs_wait(settings: Settings, queue: Queue) -> None:
    job_id = queue()
    analyse_due(settings.model_copy(update={"creative_analyser": "off"}))
    assert kept(settings, job_id).status == "queued"


def test_an_analysis_that_was_put_off_is_made_though_the_clock_was_set_back(
    settings: Settings, unreachable: Settings, queue: Queue, clock: time_machine.Traveller
) -> None:
    # both waited until the clock had come to where it had been, the second as running
    clock.move_to(START + timedelta(days=365))
    job_id, killed = queue(requested_at=START), queue(status="running", begun_at=db.now(), requested_at=START)
    assert analyse_due(unreachable) == 0
    clock.move_to(START)
    assert analyse_due(settings) == 1
    assert (kept(settings, job_id).status, kept(settings, killed).failure_reason) == ("succeeded", "timed_out")
