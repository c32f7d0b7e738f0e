"""A recommendation as it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from api import actors
from api.models import Recommendation


def told(reading: Session, rows: Sequence[Recommendation]) -> list[dict[str, Any]]:
    """The rows, each with who decided."""
    people = actors.told(reading, [_decider(row) for row in rows if row.decided_by_kind])
    return [_row(row, people.get(_decider(row)) if row.decided_by_kind else None) for row in rows]


def _decider(row: Recommendation) -> tuple[str, str | None]:
    return row.decided_by_kind or "", row.decided_by_id


def _row(row: Recommendation, decided_by: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "recommendation_id": row.id,
        "profile_id": row.profile_id,
        "kind": row.kind,
        "status": row.status,
        "entity": {
            "level": "ad",
            "id": row.entity_id,
            "external_id": row.entity_external_id,
            "name": row.entity_name,
            "platform": row.platform,
        },
        "score_window": row.score_window,
        "evidence": row.evidence,
        "suggested_action": {
            "type": row.action_type,
            "from_minor": row.from_minor,
            "to_minor": row.to_minor,
            "currency": row.currency,
        },
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "decided_at": row.decided_at,
        "decided_by": decided_by,
    }
