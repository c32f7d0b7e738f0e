"""The Meta Marketing API v26.0 over the world: objects, insights at once or as report runs, paging, rate headers."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from sandbox import (
    chatapp,
    meta_conversions,
    meta_entities,
    meta_insights,
    meta_lists,
    meta_live,
    meta_studies,
    refusals,
)
from sandbox.authorizing import unproven
from sandbox.faces import accepted
from sandbox.faults import struck
from sandbox.world import World, WorldHolder

VERSION = "v26.0"
DEFAULT_LIMIT = 25
STATES = ("Job Not Started", "Job Started", "Job Running", "Job Completed")


class Reports:
    """Report runs made so far; each look at an unfinished one moves it a state forward."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._numbers = count(870000000000001)
        self._runs: dict[str, dict[str, Any]] = {}

    def start(self, asked: meta_insights.Asked, fate: str | None) -> str:
        with self._lock:
            number = str(next(self._numbers))
            self._runs[number] = {"asked": asked, "fate": fate, "looks": 0}
        return number

    def look(self, number: str) -> dict[str, Any] | None:
        """The run's node, one state further; None for an unknown run."""
        with self._lock:
            run = self._runs.get(number)
            if run is None:
                return None
            state = min(run["looks"], 1 if run["fate"] else 3)
            run["looks"] += 1
        node = {"id": number, "async_status": STATES[state], "async_percent_completion": (0, 10, 60, 100)[state]}
        if run["fate"] == "failed" and state:
            node |= {"async_status": "Job Failed", "error_code": 2, "error_message": "The job could not be computed"}
        return node

    def rows(self, number: str, world: World) -> list[dict[str, Any]] | None:
        """The rows of a completed run, as they were when first read; None for a run that is not done or unknown."""
        with self._lock:
            run = self._runs.get(number)
            if run is None or run["fate"] or run["looks"] < len(STATES):
                return None
            if "rows" not in run:
                run["rows"] = meta_insights.rows(world, run["asked"])
            found: list[dict[str, Any]] = run["rows"]
            return found


def blueprint(
    holder: WorldHolder,
    live: meta_live.Live,
    conversions: meta_conversions.Conversions,
    lists: meta_lists.CustomerLists,
    chat: chatapp.Chat,
) -> Blueprint:
    """The routes of /meta; the others hold what is changed, reported, listed and said through them."""
    face = Blueprint("meta", __name__)
    reports = Reports()

    def asked_of(account: str, params: Mapping[str, str]) -> meta_insights.Asked:
        asked = meta_insights.read(account, params, holder.world.as_of)
        rows = live.edge(holder.world, account, f"{asked.level}s") if asked.level != "account" else []
        gone = frozenset(row["id"] for row in rows if asked.leaves_out(row.get("effective_status", "")))
        return replace(asked, left_out=gone)

    @face.before_request
    def admit() -> Response | None:
        if not accepted("meta", request):
            return refusals.revoked("meta")
        account = (request.view_args or {}).get("account")
        if account and all(account != row.id for row in holder.world.accounts):
            return _unknown(f"act_{account}")
        return unproven()

    @face.after_request
    def report_budget(response: Response) -> Response:
        account = (request.view_args or {}).get("account", "0")
        usage = {"type": "ads_insights", "call_count": 1, "total_cputime": 1, "total_time": 1}
        tier = {"estimated_time_to_regain_access": 0, "ads_api_access_tier": "standard_access"}
        response.headers.setdefault("x-business-use-case-usage", json.dumps({account: [usage | tier]}))
        throttle = {"app_id_util_pct": 0.1, "acc_id_util_pct": 0.1, "ads_api_access_tier": "standard_access"}
        response.headers.setdefault("x-fb-ads-insights-throttle", json.dumps(throttle))
        response.headers["facebook-api-version"] = VERSION
        return response

    @face.errorhandler(meta_insights.BadInsights)
    def refuse(error: meta_insights.BadInsights) -> Response:
        return refusals.meta_error(error.code, str(error))

    @face.route("/<path:rest>", methods=["GET", "POST"])
    def unknown_path(rest: str) -> Response:
        if not rest.startswith(f"{VERSION}/"):
            return refusals.meta_error(2635, "(#2635) You are calling a deprecated version of the Ads API.")
        return _unknown(rest.rsplit("/", 1)[-1])

    @face.get(f"/{VERSION}/act_<account>")
    def read_account(account: str) -> Response:
        row = next(row for row in holder.world.accounts if row.id == account)
        return refusals.answer(_pick(meta_entities.account(row)))

    @face.get(f"/{VERSION}/act_<account>/<any(campaigns, adsets, ads, adcreatives, customaudiences):edge>")
    def read_edge(account: str, edge: str) -> Response:
        rows = live.edge(holder.world, account, edge)
        asked = meta_insights.listed(request.args.get("effective_status", ""))
        return _page([_pick(row) for row in rows if _is_shown(row, asked)])

    @face.get(f"/{VERSION}/act_<account>/ad_studies")
    def read_studies(account: str) -> Response:
        return _page([_pick(row) for row in meta_studies.of_account(holder.world, account)])

    @face.get(f"/{VERSION}/<int:number>/<any(cells, objectives):edge>")
    def read_study_edge(number: int, edge: str) -> Response:
        limits = meta_live.asked_limits(request.args.get("fields", ""))
        rows = meta_studies.edge(holder.world, str(number), edge, limits)
        return _unknown(str(number)) if rows is None else _page([_pick(row) for row in rows])

    @face.get(f"/{VERSION}/act_<account>/insights")
    def read_insights(account: str) -> Response:
        return _page(meta_insights.rows(holder.world, asked_of(account, request.args)))

    @face.post(f"/{VERSION}/act_<account>/insights")
    def start_report(account: str) -> Response:
        params: Mapping[str, str] = {**request.args, **request.form}
        fate = "failed" if struck("report_failed") else "stuck" if struck("report_stuck") else None
        number = reports.start(asked_of(account, params), fate)
        return refusals.answer({"report_run_id": number})

    @face.get(f"/{VERSION}/<int:number>")
    def read_object(number: int) -> Response:
        node = reports.look(str(number))
        if node:
            return refusals.answer(node)
        if found := meta_studies.objective(holder.world, str(number)):
            return refusals.answer(_pick(found))
        found_here = chatapp.media(chat, str(number)) or meta_live.read(live, holder.world, str(number))
        return found_here or _unknown(str(number))

    @face.post(f"/{VERSION}/<int:number>")
    def write_object(number: int) -> Response:
        return meta_live.write(live, holder.world, str(number)) or _unknown(str(number))

    @face.get(f"/{VERSION}/<int:number>/insights")
    def read_report_rows(number: int) -> Response:
        rows = reports.rows(str(number), holder.world)
        if rows is None:
            return refusals.meta_error(2601, "(#2601) Loading async job results failed: the job is not complete.")
        return _page(rows)

    meta_conversions.routes(face, VERSION, holder, conversions)
    meta_lists.routes(face, VERSION, lists)
    chatapp.routes(face, VERSION, chat)
    return face


def _unknown(what: str) -> Response:
    message = (
        f"Unsupported {request.method.lower()} request. Object with ID '{what}' does not exist or cannot be loaded."
    )
    return refusals.meta_error(100, message, subcode=33)


def _is_shown(row: dict[str, Any], asked: list[str]) -> bool:
    status = row.get("effective_status")
    return status in asked if asked and status else status not in meta_entities.HIDDEN_UNLESS_ASKED


def _pick(row: dict[str, Any]) -> dict[str, Any]:
    return meta_live.picked(row, meta_live.asked_fields(request.args.get("fields", "")))


def _page(rows: list[dict[str, Any]]) -> Response:
    """One page of `rows`. `after` stands on the last page too: only the absence of `next` ends the walk."""
    limit = max(1, min(int(request.args.get("limit", DEFAULT_LIMIT)), 500))
    try:
        start = int(base64.b64decode(request.args["after"])) if "after" in request.args else 0
    except ValueError:
        return refusals.cursor_expired("meta")
    page = rows[start : start + limit]
    if not page:
        return refusals.answer({"data": []})
    paging: dict[str, Any] = {"cursors": {"before": _cursor(start), "after": _cursor(start + len(page))}}
    if start + limit < len(rows):
        paging["next"] = f"{request.base_url}?{_query(after=_cursor(start + len(page)))}"
    return refusals.answer({"data": page, "paging": paging})


def _cursor(position: int) -> str:
    return base64.b64encode(str(position).encode()).decode()


def _query(after: str) -> str:
    return urlencode({**request.args, "after": after})
