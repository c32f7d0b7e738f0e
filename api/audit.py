"""The audit trail: every attempt to change something, kept whether it was allowed or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from api.db import new_id, transaction
from api.models import AuditEntry

CATEGORIES = ("classification", "credentials", "members", "campaigns", "exports", "privacy", "billing")


@dataclass(frozen=True, slots=True)
class Attempt:
    """What somebody tried: `action` as `noun.happened`, and what it was about. No secrets, no personal data.

    `details` may hold `target` (see the function), `before` and `after`, which `GET W/audit` shows as such; anything
    else is shown with `after`. `category` is one of `CATEGORIES`.
    """

    action: str
    details: Mapping[str, Any] = field(default_factory=dict)
    category: str = "classification"

    @property
    def outcome(self) -> str:
        """What comes of it where it is let through: `no_change` where it tells the same before and after."""
        is_same = "before" in self.details and self.details["before"] == self.details.get("after")
        return "no_change" if is_same else "done"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who tried, within which workspace and profile, in which request."""

    kind: str
    id: str | None = None
    workspace_id: str | None = None
    profile_id: str | None = None
    request_id: str | None = None


def target(kind: str, id_: str, label: str | None = None) -> dict[str, str | None]:
    """What an attempt was about, as the trail shows it."""
    return {"kind": kind, "id": id_, "label": label}


def record(
    session: Session, actor: Actor, attempt: Attempt, *, outcome: str | None = None, id_: str | None = None
) -> None:
    """Record an attempt together with its effect: both are committed, or neither. `id_` is the entry's, if known.

    `outcome` is for what the attempt's own, from its `before` and `after`, does not tell.
    """
    entry = _entry(actor, attempt, outcome or attempt.outcome)
    entry.id = id_ or new_id()
    session.add(entry)


def record_alone(url: str, actor: Actor, attempt: Attempt, *, outcome: str) -> None:
    """Record an attempt in a transaction of its own, so that it outlives the rollback of a refusal.

    The one place outside `api/db.py` that decides when to commit. Call it while no other transaction of this request
    is open: SQLite lets one writer in at a time, and would wait for itself.
    """
    with transaction(url) as session:
        session.add(_entry(actor, attempt, outcome))


def _entry(actor: Actor, attempt: Attempt, outcome: str) -> AuditEntry:
    return AuditEntry(
        workspace_id=actor.workspace_id,
        profile_id=actor.profile_id,
        actor_kind=actor.kind,
        actor_id=actor.id,
        category=attempt.category,
        action=attempt.action,
        outcome=outcome,
        details=dict(attempt.details),
        request_id=actor.request_id,
    )
