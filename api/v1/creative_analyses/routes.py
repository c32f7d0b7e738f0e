"""POST /ads/{id}/creative-analysis, GET /creative-analyses/{jobId}."""

from __future__ import annotations

from typing import Any

from api import auth, context, db, errors
from api.creative_analysis import ordering
from api.creative_analysis.findings import creative_of
from api.creative_analysis.ordering import Refused, Shown
from api.guard import guarded
from api.http import Blueprint
from api.models import CreativeAnalysis
from api.scopes import Scope
from api.served import profile_facts
from api.snapshot import snapshots
from api.v1.ads import queries as ads
from api.v1.creative_analyses.schemas import Analysis, AnalysisBody
from api.writing import actor, idempotent

bp = Blueprint("creative_analyses", __name__, description="Reading from creatives what they do.")


@bp.route("/ads/<ad_id>/creative-analysis", methods=["POST"])
@guarded(scope=Scope.CREATIVES_WRITE, units=0)
@bp.arguments(AnalysisBody)
@idempotent()
@bp.response(202, Analysis)
@bp.alt_response(200, schema=Analysis, description="The job of the last 24 hours: the creative has not changed.")
def request_creative_analysis(_body: dict[str, Any], ad_id: str) -> tuple[dict[str, Any], int]:
    """Have an ad's creative analysed

    `ad_id` is the service's id or the platform's. What is found stands in the ad's creative from the next build on,
    where neither the platform nor an import says it already. 30 calls an hour and 100 analyses a UTC day per
    credential, 20 analyses a UTC day per profile; a repeat within 24 hours for the same ad and unchanged creative is
    answered with the job there is and counts nowhere, a job that failed is no repeat.
    """
    settings, caller = context.settings(), auth.current()
    if not settings.analyses_creatives:
        raise errors.NOT_IMPLEMENTED("This deployment analyses no creatives.")
    found = _ad(ad_id)
    if found is None or found["creative_hash"] is None:
        _charge_call()
        if found is None:
            raise errors.NOT_FOUND("No ad of this profile has this id.")
        raise errors.INVALID_STATE("Nothing is known of what this ad shows.", reason="no_creative")
    shown = Shown(found["entity_id"], found["platform_id"], found["creative_hash"], creative_of(found))
    ordered = ordering.order(
        settings.operational_url, profile_id=caller.profile.id, account=caller.account, shown=shown, by=actor()
    )
    if isinstance(ordered, Refused):
        raise _refusal(ordered)
    return _told(ordered.job, reused=ordered.reused), 200 if ordered.reused else 202


@bp.route("/creative-analyses/<job_id>")
@guarded(scope=Scope.CREATIVES_WRITE, uuids=["job_id"])
@bp.response(200, Analysis)
def creative_analysis(job_id: str) -> dict[str, Any]:
    """How an analysis stands, and what it found

    A job goes from queued to running and ends as succeeded, with `result`, or as failed, with `failure_reason`; it is
    tried up to four times, 1, 5 and 15 minutes apart. Ask every few seconds, or have `creative_analysis.completed`
    told. What was found stands in `creative` of GET /ads/{ad_id} from the next build on. A job of another profile is
    404.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        job = reading.get(CreativeAnalysis, job_id)
    if job is None or job.profile_id != auth.current().profile.id:
        raise errors.NOT_FOUND()
    return _told(job, reused=False)


def _ad(ad_id: str) -> dict[str, Any] | None:
    with snapshots(context.settings()).reader() as reader:
        facts = profile_facts(reader, auth.current().profile.id) if reader else None
        return ads.ad(reader, facts, ad_id) if reader and facts else None


def _charge_call() -> None:
    refused = ordering.call(context.settings().operational_url, account=auth.current().account)
    if refused:
        raise _refusal(refused)


def _refusal(refused: Refused) -> errors.ApiError:
    return errors.RATE_LIMIT_EXCEEDED(reason=refused.reason, headers={"Retry-After": str(refused.retry_after)})


def _told(job: CreativeAnalysis, *, reused: bool) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "ad_id": job.ad_id,
        "ad_external_id": job.ad_external_id,
        "status": job.status,
        "reused": reused,
        "creative_hash": job.creative_hash,
        "requested_at": job.requested_at,
        "finished_at": job.finished_at,
        "failure_reason": job.failure_reason if job.status == "failed" else None,
        "result": job.result,
    }
