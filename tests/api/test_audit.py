"""The audit trail outlives refusals, and falls with an effect that was rolled back."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from api import audit, db, errors
from api.models import AuditEntry

ACTOR = audit.Actor("api_key", "key-1", "workspace-1", "profile-1", "req_1")
ATTEMPT = audit.Attempt("campaign.pause", {"campaign_id": "120"})


def entries(url: str) -> list[AuditEntry]:
    with db.transaction(url) as session:
        return list(session.scalars(sa.select(AuditEntry)))


def test_an_attempt_recorded_alone_stays_whatever_comes_after(database_url: str) -> None:
    audit.record_alone(database_url, ACTOR, ATTEMPT, outcome="campaign_not_pausable")
    (entry,) = entries(database_url)
    assert (entry.actor_kind, entry.actor_id, entry.request_id) == ("api_key", "key-1", "req_1")
    assert (entry.workspace_id, entry.profile_id) == ("workspace-1", "profile-1")
    assert (entry.action, entry.outcome, entry.details) == (
        "campaign.pause", "campaign_not_pausable", {"campaign_id": "120"},
    )  # fmt: skip


def test_an_attempt_recorded_with_its_effect_falls_with_it(database_url: str) -> None:
    with pytest.raises(errors.ApiError), db.unit(database_url) as session:
        audit.record(session, ACTOR, ATTEMPT)
        session.flush()
        raise errors.INTERNAL_ERROR()
    assert entries(database_url) == []
    with db.unit(database_url) as session:
        audit.record(session, ACTOR, ATTEMPT)
    assert [entry.outcome for entry in entries(database_url)] == ["done"]
