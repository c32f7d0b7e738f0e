"""Routes withdrawn on purpose: they say so, and what replaces them, until their Sunset; then they are unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NoReturn

from api import context, errors
from api.auth import Kind
from api.db import now
from api.guard import caller_guarded
from api.http import Blueprint
from api.writing import idempotent

bp = Blueprint("retired", __name__, description="Withdrawn operations, until they are gone.")

SINCE = datetime(2026, 10, 10, tzinfo=UTC)
SUNSET = datetime(2027, 4, 10, tzinfo=UTC)
WORDS = (
    "The chat in the application is retired. Ask through an agent (the agent-protocol server), or take the leaders as "
    "a bundle from POST /api/v1/workspaces/{workspaceId}/top-performers/export."
)


@bp.route("/dashboard/chat", methods=["POST"])
@caller_guarded(kinds=set(Kind))
@idempotent(keyed=False)
@bp.response(200)
def dashboard_chat() -> NoReturn:
    """Retired: the chat of the dashboard"""
    raise _gone()


# the part of the path is no `workspace_id`: nothing is looked up, so the answer tells nobody whether it exists
@bp.route("/workspaces/<workspace>/top-performers/chat", methods=["POST"])
@caller_guarded(kinds=set(Kind))
@idempotent(keyed=False)
@bp.response(200)
def leaders_chat(workspace: str) -> NoReturn:  # noqa: ARG001 - see above
    """Retired: the chat of the leaderboard"""
    raise _gone()


def _gone() -> errors.ApiError:
    if now() >= SUNSET:
        return errors.NOT_FOUND()
    headers = {
        "Deprecation": f"@{int(SINCE.timestamp())}",
        "Sunset": SUNSET.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "Link": f'<{context.settings().base_url}/docs>; rel="successor-version"',
    }
    return errors.FEATURE_RETIRED(WORDS, headers=headers)
