"""TikTok's API for Business v1.3 over the world: advertisers, lists by page, reports, statuses and budgets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, request

from sandbox import refusals, tiktok_entities, tiktok_report
from sandbox.faces import accepted
from sandbox.faults import unsettled
from sandbox.tiktok_live import Live, UnchangeableError
from sandbox.tiktok_world import Presences
from sandbox.world import WorldHolder

VERSION = "open_api/v1.3"
NOUNS = ("campaign", "adgroup", "ad")
DEFAULT_PAGE, MOST_PAGE, MOST_IDS = 10, 1000, 100
BAD_PARAMETER, NO_PERMISSION, UNKNOWN_PATH = 40002, 40001, 40400

Row = dict[str, Any]


def blueprint(holder: WorldHolder, presences: Presences, live: Live) -> Blueprint:
    """The routes of /tiktok; `live` holds what is changed through them."""
    face = Blueprint("tiktok", __name__)

    @face.before_request
    def admit() -> Response | None:
        if not accepted("tiktok", request):
            return refusals.revoked("tiktok")
        asked = request.args.get("advertiser_id") or (request.get_json(silent=True) or {}).get("advertiser_id")
        known = {row.id for row in presences.of(holder.world).tree.accounts}
        if asked is not None and asked not in known:
            return refusals.tiktok_error(NO_PERMISSION, f"No permission to operate advertiser {asked}")
        return None

    @face.errorhandler(tiktok_report.BadReportError)
    @face.errorhandler(UnchangeableError)
    def refuse(error: ValueError) -> Response:
        return refusals.tiktok_error(BAD_PARAMETER, str(error))

    @face.route("/<path:rest>", methods=["GET", "POST"])
    def unknown_path(rest: str) -> Response:
        return refusals.tiktok_error(UNKNOWN_PATH, f"path not found: {rest}")

    @face.get(f"/{VERSION}/advertiser/info/")
    def read_advertisers() -> Response:
        wanted = _listed("advertiser_ids")
        found = [row for row in presences.of(holder.world).tree.accounts if row.id in wanted]
        if len(found) < len(set(wanted)) or not wanted:
            return refusals.tiktok_error(NO_PERMISSION, "No permission to operate these advertisers")
        return refusals.tiktok({"list": [_picked(tiktok_entities.advertiser(row)) for row in found]})

    for noun in NOUNS:
        face.add_url_rule(f"/{VERSION}/{noun}/get/", f"{noun}_get", _reader(holder, presences, live, noun))

    @face.get(f"/{VERSION}/report/integrated/get/")
    def read_report() -> Response:
        asked = tiktok_report.read(request.args)
        presence = presences.of(holder.world)
        known = tiktok_entities.listed(presence, asked.id_name.removesuffix("_id"), live.changed())
        gone = {row[asked.id_name] for row in known if row["secondary_status"].endswith("_DELETE")}
        rows = tiktok_report.rows(presence, holder.world, asked)
        told = [row for row in rows if asked.deleted or row["dimensions"][asked.id_name] not in gone]
        return _page(unsettled(told))

    @face.post(f"/{VERSION}/<any(campaign, adgroup, ad):noun>/status/update/")
    def update_status(noun: str) -> Response:
        document = request.get_json()
        ids = [str(one) for one in document.get(f"{noun}_ids") or []]
        live.operate(presences.of(holder.world), noun, ids, str(document.get("operation_status")))
        return refusals.tiktok({f"{noun}_ids": ids, "status": document["operation_status"]})

    @face.post(f"/{VERSION}/campaign/update/")
    def update_campaign() -> Response:
        document = request.get_json()
        number = str(document.get("campaign_id"))
        live.budget(presences.of(holder.world), "campaign", number, document.get("budget"))
        return refusals.tiktok({"campaign_id": number})

    @face.post(f"/{VERSION}/adgroup/budget/update/")
    def update_budgets() -> Response:
        document = request.get_json()
        for one in document.get("budget") or []:
            live.budget(presences.of(holder.world), "adgroup", str(one.get("adgroup_id")), one.get("budget"))
        return refusals.tiktok({"adgroup_ids": [one["adgroup_id"] for one in document["budget"]]})

    return face


def _reader(holder: WorldHolder, presences: Presences, live: Live, noun: str) -> Callable[[], Response]:
    def read() -> Response:
        filtering = json.loads(request.args.get("filtering", "{}"))
        ids = filtering.get(f"{noun}_ids")
        if ids is not None and not 0 < len(ids) <= MOST_IDS:
            raise UnchangeableError(f"filtering.{noun}_ids: at most {MOST_IDS} ids")
        rows = tiktok_entities.listed(presences.of(holder.world), noun, live.changed())
        deleted = {"STATUS_ALL": None, "STATUS_DELETE": True}.get(filtering.get("primary_status"), False)
        return _page([
            row
            for row in rows
            if row["advertiser_id"] == request.args.get("advertiser_id")
            and (ids is None or row[f"{noun}_id"] in ids)
            and (deleted is None or row["secondary_status"].endswith("_DELETE") == deleted)
        ])  # fmt: skip

    return read


def _page(rows: list[Row]) -> Response:
    """One page of `rows`, by its number."""
    number, size = (int(request.args.get(name, default)) for name, default in (("page", 1), ("page_size", 10)))
    if number < 1 or not 1 <= size <= MOST_PAGE:
        return refusals.tiktok_error(BAD_PARAMETER, f"page_size: must be between 1 and {MOST_PAGE}")
    start = (number - 1) * size
    told = {"page": number, "page_size": size, "total_number": len(rows), "total_page": -(-len(rows) // size)}
    return refusals.tiktok({"list": rows[start : start + size], "page_info": told})


def _listed(name: str) -> list[str]:
    found = json.loads(request.args.get(name, "[]"))
    return [str(one) for one in found]


def _picked(row: Row) -> Row:
    fields = _listed("fields")
    return {name: value for name, value in row.items() if name in fields} if fields else row
