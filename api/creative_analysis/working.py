"""Analyses that were asked for are worked off by the worker, outside any request."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
import structlog

from api import db
from api.creative_analysis.analysers import analyser
from api.creative_analysis.findings import Analyser, creative_of
from api.models import CreativeAnalysis
from api.one_by_one import never
from api.postponed import is_due, is_over
from api.webhooks.telling import analysis_ended
from connectors.errors import ConnectorError
from touchledger.settings import Settings

log = structlog.get_logger("api.creative_analysis")

WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15))
LONGEST = timedelta(minutes=10)
# between batches the worker does its other chores, and sees that it is told to end
AT_ONCE = 4
# seconds after which no further one of a batch is begun
LONGEST_BATCH = 20.0
ENDED = ("succeeded", "failed")


def analyse_due(settings: Settings, ended: Callable[[], bool] = never) -> int:
    """Work off the next few analyses that are due; the number that succeeded. Safe in several processes at once.

    None is begun once `ended` says so.
    """
    _fail_overdue(settings)
    reader = analyser(settings)
    if reader is None:
        return 0
    done, begun = 0, time.monotonic()
    for job_id in _due(settings):
        if ended():
            break
        job = _claim(settings, job_id)
        done += job is not None and _analyse(settings, job, reader)
        if time.monotonic() - begun >= LONGEST_BATCH:
            break
    return done


def _due(settings: Settings) -> list[str]:
    due = is_due(db.now(), CreativeAnalysis, WAITS, made=CreativeAnalysis.requested_at)
    ripe = sa.and_(CreativeAnalysis.status == "queued", due)
    oldest = sa.select(CreativeAnalysis.id).where(ripe)
    oldest = oldest.order_by(CreativeAnalysis.next_attempt_at, CreativeAnalysis.id).limit(AT_ONCE)
    with db.transaction(settings.operational_url, durable=False) as session:
        return list(session.scalars(oldest))


def _claim(settings: Settings, job_id: str) -> CreativeAnalysis | None:
    mine = (CreativeAnalysis.id == job_id, CreativeAnalysis.status == "queued")
    with db.transaction(settings.operational_url) as session:
        claimed: Any = session.execute(
            sa.update(CreativeAnalysis).where(*mine).values(status="running", begun_at=db.now())
        )
        return session.get_one(CreativeAnalysis, job_id) if claimed.rowcount else None


def _analyse(settings: Settings, job: CreativeAnalysis, reader: Analyser) -> bool:
    try:
        found = reader.analyse(creative_of(job.creative))
    except ConnectorError as problem:
        _postpone(settings, job, problem.reason)
    except Exception as problem:
        log.exception("creative_analysis_failed", job=job.id, exc_info=problem)
        _postpone(settings, job, "analyser_failed")
    else:
        return _end(settings, job, status="succeeded", result=found.told(), failure_reason=None)
    return False


def _postpone(settings: Settings, job: CreativeAnalysis, reason: str) -> None:
    if job.attempts >= len(WAITS):
        _end(settings, job, status="failed", failure_reason=reason)
        return
    later = {"attempts": job.attempts + 1, "next_attempt_at": db.now() + WAITS[job.attempts], "status": "queued"}
    _change(settings, job, later)


def _fail_overdue(settings: Settings) -> None:
    overdue = sa.and_(CreativeAnalysis.status == "running", is_over(db.now(), CreativeAnalysis.begun_at, LONGEST))
    with db.transaction(settings.operational_url, durable=False) as session:
        found = list(session.scalars(sa.select(CreativeAnalysis).where(overdue)))
    for job in found:
        _end(settings, job, status="failed", failure_reason="timed_out")


def _end(settings: Settings, job: CreativeAnalysis, **members: Any) -> bool:
    return _change(settings, job, {**members, "finished_at": db.now()})


def _change(settings: Settings, job: CreativeAnalysis, members: dict[str, Any]) -> bool:
    # purged meanwhile, or given up as overdue: then nothing is changed
    mine = (CreativeAnalysis.id == job.id, CreativeAnalysis.status == "running")
    with db.transaction(settings.operational_url) as session:
        changed: Any = session.execute(
            sa.update(CreativeAnalysis).where(*mine, CreativeAnalysis.begun_at == job.begun_at).values(**members)
        )
        if changed.rowcount and members["status"] in ENDED:
            reason = members.get("failure_reason")
            analysis_ended(session, job, status=members["status"], failure_reason=reason)
        return bool(changed.rowcount)
