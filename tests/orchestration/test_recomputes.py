"""Which build answers a request for figures anew."""

from __future__ import annotations

from datetime import UTC, datetime

import dagster as dg
import pytest

from api.db import transaction
from api.models import Recompute
from orchestration import recomputes
from tests.factories import accounts


@pytest.fixture
def asked(database_url: str) -> str:
    """A queued recompute."""
    profile = accounts.profile(database_url)
    return _ask(database_url, profile.id, requested_at=datetime(2026, 11, 20, 12, tzinfo=UTC))


def _ask(url: str, profile_id: str, **members: object) -> str:
    with transaction(url) as session:
        made = Recompute(profile_id=profile_id, status="queued", **members)
        session.add(made)
        session.flush()
        return made.id


def state(url: str, recompute_id: str) -> tuple[str, str | None, str | None]:
    with transaction(url) as session:
        found = session.get_one(Recompute, recompute_id)
        assert (found.finished_at is not None) == (found.status in {"published", "failed"})
        return found.status, found.build_id, found.snapshot_id


def test_a_request_is_taken_up_and_answered_by_one_build(database_url: str, asked: str) -> None:
    assert recomputes.publish(database_url, "one", "early") == 0
    assert recomputes.begin(database_url, "one") == 1
    assert state(database_url, asked) == ("running", "one", None)
    assert recomputes.publish(database_url, "another", "theirs") == 0
    assert recomputes.publish(database_url, "one", "ours") == 1
    assert state(database_url, asked) == ("published", "one", "ours")
    assert recomputes.begin(database_url, "two") == 0


def test_a_request_made_after_a_build_began_waits_for_the_next(database_url: str, asked: str) -> None:
    recomputes.begin(database_url, "one")
    late = _ask(database_url, accounts.profile(database_url, name="Late").id)
    recomputes.publish(database_url, "one", "s1")
    assert state(database_url, late) == ("queued", None, None)
    recomputes.begin(database_url, "two")
    recomputes.publish(database_url, "two", "s2")
    assert state(database_url, late) == ("published", "two", "s2")
    assert state(database_url, asked) == ("published", "one", "s1")


def test_a_failed_build_fails_its_requests_and_its_retry_may_still_answer_them(database_url: str, asked: str) -> None:
    assert recomputes.fail(database_url, "one") == 0
    recomputes.begin(database_url, "one")
    assert recomputes.fail(database_url, "one") == 1
    assert state(database_url, asked) == ("failed", "one", None)
    assert recomputes.begin(database_url, "two") == 0
    recomputes.publish(database_url, "one", "retried")
    assert state(database_url, asked) == ("published", "one", "retried")


def test_the_next_build_takes_over_what_a_killed_one_held(database_url: str, asked: str) -> None:
    recomputes.begin(database_url, "killed")
    recomputes.begin(database_url, "two")
    assert recomputes.publish(database_url, "killed", "late") == 0
    recomputes.publish(database_url, "two", "s2")
    assert state(database_url, asked) == ("published", "two", "s2")


def test_the_newest_queued_request_is_told_to_the_microsecond(database_url: str, asked: str) -> None:
    assert recomputes.newest_queued(database_url) == 1_795_176_000_000_000
    recomputes.begin(database_url, "one")
    assert recomputes.newest_queued(database_url) == 0


@pytest.mark.parametrize(
    ("status", "left"),
    [
        (dg.DagsterRunStatus.NOT_STARTED, "running"),
        (dg.DagsterRunStatus.STARTED, "running"),
        (dg.DagsterRunStatus.FAILURE, "failed"),
        (dg.DagsterRunStatus.CANCELED, "failed"),
    ],
)
def test_a_request_fails_once_no_run_of_its_build_goes_on(
    sqlite_url: str, status: dg.DagsterRunStatus, left: str
) -> None:
    recompute_id = _ask(sqlite_url, accounts.profile(sqlite_url).id)
    recomputes.begin(sqlite_url, "first")
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_run(dg.DagsterRun("build", run_id="first", status=dg.DagsterRunStatus.FAILURE))
        tags = {"dagster/root_run_id": "first"}
        retry = dg.DagsterRun(
            "build", run_id="retry", root_run_id="first", parent_run_id="first", status=status, tags=tags
        )
        instance.add_run(retry)
        assert recomputes.build_of(retry) == "first"
        recomputes.fail_abandoned(sqlite_url, instance)
    assert state(sqlite_url, recompute_id)[0] == left
