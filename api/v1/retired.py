"""Routes withdrawn on purpose: they say so, and what replaces them, until their Sunset; then they are unknown."""

from __future__ import annotations

from datetime import UTC, datetime

from api import context, errors
from api.db import now
from api.guard import retired
from api.http import Blueprint
from api.writing import idempotent

bp = Blueprint("retired", __name__, description="Withdrawn operations, until they are gone.")

SINCE = datetime(2026, 10, 10, tzinfo=UTC)
SUNSET = datetime(2027, 4, 10, tzinfo=UTC)
WORDS = (
    "The chat in the application is retired. Ask an agent that calls this API (no agent-protocol server runs here), or "
    "take the leaders as a bundle from POST /api/v1/workspaces/{workspaceId}/top-performers/export."
)


def _gone() -> errors.ApiError:
    if now() >= SUNSET:
        return errors.NOT_FOUND()
    headers = {
        "Deprecation": f"@{int(SINCE.timestamp())}",
        "Sunset": SUNSET.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "Link": f'<{context.settings().base_url}/docs>; rel="successor-version"',
    }
    return errors.FEATURE_RETIRED(WORDS, headers=headers)


@bp.route("/dashboard/chat", methods=["POST"])
@retired(_gone)
@idempotent(keyed=False)
def dashboard_chat() -> None:
    """Retired: the chat of the dashboard

    Answers every caller with a credential 410 `feature_retired`, whatever is sent, until the day that `Sunset` tells;
    after it the path is unknown, 404. The message names what takes its place.
    """


# the part of the path is no `workspace_id`: nothing is looked up, so the answer tells nobody whether it exists
@bp.route("/workspaces/<workspace>/top-performers/chat", methods=["POST"])
@retired(_gone)
@idempotent(keyed=False)
def leaders_chat(workspace: str) -> None:
    """Retired: the chat of the leaderboard

    Answers every caller with a credential 410 `feature_retired`, whatever is sent, until the day that `Sunset` tells;
    after it the path is unknown, 404. The message names what takes its place: the leaders as a bundle, for an agent of
    your own.
    """
