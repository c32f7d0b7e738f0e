"""Applying and dismissing: what a person or a key decides about a recommendation, once."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy.orm import Session

from api import audit, db, errors, platform_writes, writebacks
from api.auth import Principal
from api.models import Profile, Recommendation
from api.platform_rules import Verb, Wanted
from connectors.ad_platform import Level
from touchledger.settings import Settings

VERBS: dict[str, Verb] = {"change_budget": "budget", "pause": "pause"}
HAPPENED = {"applied": "recommendation.applied", "dismissed": "recommendation.dismissed"}


def standing(settings: Settings, *, by: Principal, recommendation_id: str) -> Recommendation:
    """The open recommendation of the caller's profile; 404 not_found, 409 invalid_state/recommendation_closed."""
    with db.transaction(settings.operational_url, durable=False) as reading:
        row = reading.get(Recommendation, recommendation_id)
    if row is None or row.profile_id != by.profile.id:
        raise errors.NOT_FOUND()
    if row.status != "open":
        raise _closed(row)
    return row


def change(
    settings: Settings,
    row: Recommendation,
    *,
    by: Principal,
    actor: audit.Actor,
    body: dict[str, Any],
    idempotency_key: str | None,
) -> dict[str, Any] | None:
    """Do at the platform what the recommendation suggests; None where it suggests nothing that is done there.

    With all refusals of the routes that pause and re-budget. Call it while no transaction of the request is open.
    """
    if row.action_type not in VERBS or row.action_entity_id is None:
        if body["applied_by"] is not None:
            platform_writes.refuse_stranger(settings, by, body["applied_by"])
        return None
    verb, level = VERBS[row.action_type], cast(Level, row.action_level)
    # who was told to spend more has perhaps done so by now, and further than was suggested
    wanted = Wanted(verb, level, row.action_entity_id, amount_minor=row.to_minor or 0, only_up=True)
    return platform_writes.change(
        settings,
        wanted=wanted,
        by=by,
        actor=actor,
        dry_run=body["dry_run"],
        note=body["note"],
        applied_by=body["applied_by"],
        idempotency_key=idempotency_key,
    )


def decide(
    session: Session,
    *,
    recommendation_id: str,
    by: Principal,
    actor: audit.Actor,
    status: str,
    said: dict[str, Any],
    is_done: bool = False,
    request_id: str = "",
) -> Recommendation:
    """Close a recommendation as applied or dismissed; `said` goes into the trail.

    409 invalid_state/recommendation_closed when somebody else was first, unless the platform `is_done` with it: then
    what was done stands. An agent's decision is kept with its other write-backs, and needs them to be switched on.
    """
    # its ads are looked at one after the other: a new snapshot may be closing it just now
    session.get_one(Profile, by.profile.id, with_for_update={"key_share": True})
    row = session.get_one(Recommendation, recommendation_id, with_for_update=True, populate_existing=True)
    if row.status != "open" and not is_done:
        raise _closed(row)
    if not is_done:
        _keep(session, row, by=by, status=status, said=said, request_id=request_id)
    row.status, row.decided_at = status, db.now()
    row.decided_by_kind, row.decided_by_id = actor.kind, actor.id
    audit.record(session, actor, attempt(row, status, said))
    session.flush()
    return row


def attempt(row: Recommendation, status: str, said: dict[str, Any]) -> audit.Attempt:
    """How the trail tells it."""
    about = audit.target("recommendation", row.id, row.kind)
    after = {"entity_external_id": row.entity_external_id, **said}
    return audit.Attempt(HAPPENED[status], {"target": about, "after": after}, category="campaigns")


def _keep(
    session: Session, row: Recommendation, *, by: Principal, status: str, said: dict[str, Any], request_id: str
) -> None:
    kept = writebacks.begin(
        session,
        by=by,
        operation=HAPPENED[status],
        target={"kind": "recommendation", "platform_id": row.entity_external_id, "name": row.entity_name},
        request=said,
        dry_run=False,
        request_id=request_id,
    )
    if kept is not None:
        writebacks.settle(session, kept, outcome="done")


def _closed(row: Recommendation) -> errors.ApiError:
    return errors.INVALID_STATE(f"This recommendation is {row.status}.", reason="recommendation_closed")
