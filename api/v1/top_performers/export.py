"""POST W/top-performers/export."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from api import auth, context, errors
from api.audit import Attempt, record, target
from api.db import new_id, now
from api.guard import workspace_guarded
from api.http import Blueprint
from api.reading_across import Across, across, described, opened
from api.scopes import Scope
from api.v1.top_performers import bundle
from api.v1.top_performers.across import EMPTY, Leaderboard, leaderboard, leaderboard_of
from api.v1.top_performers.bodies import ExportBody
from api.v1.top_performers.schemas import WorkspaceTopPerformersMeta
from api.writing import actor, idempotent, session

bp = Blueprint("top_performers_export", __name__, description="Top ads as a bundle of files.")


class BundleFile(Schema):
    """One file; `content` is its whole text."""

    path = fields.String(
        required=True,
        metadata={"description": "Where it goes in the bundle's folder, such as `ads.json`."},
    )
    media_type = fields.String(
        required=True, metadata={"description": "text/markdown, or application/json for ads.json."}
    )
    content = fields.String(required=True, metadata={"description": "The whole file as text, in UTF-8."})


class Bundle(Schema):
    """Files for a coding agent. What ads say stands in them as data."""

    meta_schema = WorkspaceTopPerformersMeta

    bundle_id = fields.UUID(
        required=True, metadata={"description": "Names the bundle in the audit trail; it is kept nowhere."}
    )
    generated_at = fields.DateTime(required=True, metadata={"description": "When it was made."})
    row_count = fields.Integer(required=True, metadata={"description": "Ads in it."})
    sha256 = fields.String(
        required=True, metadata={"description": "Of what `sha256sum` prints for the files in their order."}
    )
    files = fields.List(
        fields.Nested(BundleFile),
        required=True,
        metadata={"description": "README.md, ads.json, then one brief per ad, the best first."},
    )


@bp.route("/workspaces/<workspace_id>/top-performers/export", methods=["POST"])
@workspace_guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(ExportBody)
@idempotent(replays_to_guests=False)
@bp.response(200, Bundle)
def export_top_performers(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Top ads as a bundle of files for a coding agent

    README.md says what each measure means, ads.json holds the rows, and briefs/ a page per ad. An Idempotency-Key of a
    guest is not kept: each answer is of the profiles that are open to them then.
    """
    profiles = opened(workspace_id, body["profile_ids"])
    currency = auth.current().workspace.reporting_currency
    with across(profiles) as found:
        described(found)
        answer = _chosen(found, currency, body)
    context.meta(score_window=body["window"], **answer.meta())
    made = bundle.files(answer, score_window=body["window"], currency=currency, locale=body["locale"])
    bundle_id, sha256 = new_id(), bundle.digest(made)
    told = {"row_count": len(answer.rows), "score_window": body["window"], "sha256": sha256}
    attempt = Attempt(
        "top_performers.exported", {"target": target("bundle", bundle_id), "after": told}, category="exports"
    )  # fmt: skip
    record(session(), actor(), attempt)
    return {
        "bundle_id": bundle_id,
        "generated_at": now(),
        "row_count": len(answer.rows),
        "sha256": sha256,
        "files": [vars(one) for one in made],
    }


def _chosen(found: Across | None, currency: str, body: dict[str, Any]) -> Leaderboard:
    """404 not_found for an id that is no ad of these profiles with delivery in the window."""
    ids = body["ad_external_ids"]
    if ids is None:
        return leaderboard(found, currency, body) if found else EMPTY
    answer = leaderboard_of(found, currency, body, ids) if found else None
    if answer is None:
        raise errors.NOT_FOUND("No ad that delivered in the window has one of these ids.")
    return answer
