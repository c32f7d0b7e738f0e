"""GET W/pacing: month-to-date spend and outcomes against budget, per profile."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from api import auth, context, rates, responses
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import Profile, Workspace
from api.reading import digest, timestamp
from api.reading_across import opened
from api.snapshot import snapshots
from api.v1.workspaces import pacing_queries, pacing_rows
from api.v1.workspaces.pacing_queries import Facts, Sums
from api.v1.workspaces.pacing_rows import Paced, paced
from api.v1.workspaces.pacing_schemas import Pacing, PacingQuery
from api.windows import DateRange, last_of_month

bp = Blueprint("pacing", __name__, description="Spend and outcomes of a month against budget.")


@bp.route("/workspaces/<workspace_id>/pacing")
@workspace_guarded()
@bp.arguments(PacingQuery, location="query")
@responses.tagged
@bp.response(200, Pacing)
def pacing(query: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Month-to-date spend and outcomes against budget, per profile

    The figures are the sums of GET /campaigns from the month's first day through `delivery_through`, under last_touch.
    Totals are converted to the workspace's currency at the newest rates.
    """
    workspace = auth.current().workspace
    first = query["month"] or datetime.now(ZoneInfo(workspace.timezone)).date().replace(day=1)
    month = DateRange(first, last_of_month(first))
    profiles = opened(workspace_id, query["profile_ids"])
    with snapshots(context.settings()).reader(None) as reader:
        facts = pacing_queries.facts_of(reader, [one.id for one in profiles]) if reader else {}
        context.meta(
            currency=workspace.reporting_currency,
            model=pacing_queries.MODEL,
            snapshot_id=reader.snapshot_id if reader else None,
            data_as_of=_oldest(list(facts.values())),
        )
        responses.conditional(_tag(reader.snapshot_id if reader else "none", workspace, profiles, first))
        sums = pacing_queries.sums_of(reader, list(facts.values()), month) if reader and facts else {}
        found = [_paced(one, facts.get(one.id), sums, month) for one in profiles]
        told = rates.into(workspace.reporting_currency, reader, (one.currency for one in found))
    return {
        "currency": workspace.reporting_currency,
        "totals": pacing_rows.totals(found, workspace.reporting_currency, told.units),
        "profiles": [pacing_rows.row(one, month) for one in found],
    }


def _paced(profile: Profile, facts: Facts | None, sums: dict[int, Sums], month: DateRange) -> Paced:
    return paced(profile, facts, sums.get(facts.profile_key, Sums()) if facts else Sums(), month)


def _oldest(facts: Sequence[Facts]) -> str | None:
    read = [one.data_as_of for one in facts if one.data_as_of]
    return timestamp(min(read)) if read else None


def _tag(snapshot_id: str, workspace: Workspace, profiles: Sequence[Profile], first: date) -> str:
    """Everything the answer depends on beside the snapshot: whose profiles, their names, budgets and targets."""
    told = [
        [one.id, one.name, one.timezone, one.reporting_currency, str(one.monthly_budget), one.outcome_target]
        for one in profiles
    ]
    return f"{snapshot_id}.{digest([workspace.id, workspace.reporting_currency, first, told])}"
