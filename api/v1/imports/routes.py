"""POST /imports, GET /imports, GET /imports/{import_id}."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from flask import request

from api import audit, auth, context, db, errors, pagination
from api.auth import Kind
from api.guard import MEBIBYTE, guarded
from api.http import Blueprint
from api.models import Import
from api.reading import timestamp
from api.roles import Role
from api.scopes import Scope
from api.v1.imports import uploads
from api.v1.imports.schemas import ImportRow, ImportsQuery
from api.writing import actor, idempotent, session

bp = Blueprint("imports", __name__, description="Files of the public data sets, given over HTTP.")

TOLD = ("dataset", "file_name", "status", "reason", "rows_in", "rows_loaded", "rows_quarantined", "errors", "sha256")
SENDERS = frozenset({Kind.API_KEY, Kind.SESSION})
FILE = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file", "dataset"],
                "additionalProperties": False,
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "dataset": {
                        "type": "string",
                        "enum": uploads.datasets(),
                        "description": "Name of the data set; its columns: docs/data.md.",
                    },
                },
            }
        }
    },
}


@bp.route("/imports", methods=["POST"])
@guarded(scope=Scope.EVENTS_WRITE, kinds=SENDERS, max_body=100 * MEBIBYTE, role=Role.ADMIN)
@bp.doc(requestBody=FILE)
@idempotent()
@bp.response(202, ImportRow)
def import_upload() -> dict[str, Any]:
    """Import a file of a public data set

    The next build loads it as it loads the files of the drop folder. The same bytes are the earlier import.
    """
    file, dataset = _form()
    name = uploads.name_of(file.filename)
    form, sha256 = uploads.form_of(name), uploads.digest_of(file.stream)
    profile_id = auth.current().profile.id
    made, is_due, is_begun = uploads.queue(session(), profile_id, dataset, name, sha256)
    if is_due:
        uploads.put_upload(file.stream, context.settings().inbox / profile_id / dataset, sha256, form)
    if is_begun:
        details = {"target": audit.target("import", made.id, dataset)}
        audit.record(session(), actor(), audit.Attempt("import.created", details))
    return _row(made)


@bp.route("/imports")
@guarded(scope=Scope.EVENTS_WRITE, kinds=SENDERS, role=Role.ADMIN)
@bp.arguments(ImportsQuery, location="query")
@bp.response(200, ImportRow(many=True))
def imports_of_profile(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The profile's imports, newest first

    Those sent here, dropped into the folder or given to the command, rejected ones too. Exchange rates are the
    deployment's, belong to no profile and are not listed.
    """
    profile_id, key = auth.current().profile.id, context.settings().signing_key()
    listing = pagination.Listing("/imports", profile_id, {})
    chosen = sa.select(Import).where(Import.profile_id == profile_id)
    if query["cursor"] is not None:
        at, last = pagination.read(key, listing, query["cursor"]).position
        moment = datetime.fromisoformat(at)
        # newest first, then by id ascending
        older = sa.or_(Import.created_at < moment, sa.and_(Import.created_at == moment, Import.id > last))
        chosen = chosen.where(older)
    ordered = chosen.order_by(Import.created_at.desc(), Import.id).limit(query["limit"] + 1)
    with db.transaction(context.settings().operational_url) as reading:
        found = list(reading.scalars(ordered))
    page, more = found[: query["limit"]], len(found) > query["limit"]
    place = [page[-1].created_at.isoformat(), page[-1].id] if more else []
    context.paginate(cursor=pagination.issue(key, listing, place, None) if more else None, has_next=more)
    return [_row(one) for one in page]


@bp.route("/imports/<import_id>")
@guarded(scope=Scope.EVENTS_WRITE, kinds=SENDERS, uuids=("import_id",), role=Role.ADMIN)
@bp.response(200, ImportRow)
def import_state(import_id: str) -> dict[str, Any]:
    """What became of an import

    Goes from queued over loading to loaded or rejected with the next build that runs; `import.finished` tells it. In
    `errors` are the first bad rows with their field and reason; the good rows of the file are in all the same. One that
    was rejected changed nothing: mend the file and send it again.
    """
    with db.transaction(context.settings().operational_url) as reading:
        found = reading.get(Import, import_id)
    if found is None or found.profile_id != auth.current().profile.id:
        raise errors.NOT_FOUND()
    return _row(found)


def _form() -> tuple[Any, str]:
    if request.mimetype != "multipart/form-data":
        raise errors.INVALID_REQUEST("The body must be multipart/form-data.", reason="wrong_content_type")
    names = [name for parts in (request.form, request.files) for name, _ in parts.items(multi=True)]
    if unknown := sorted({*names} - {"file", "dataset"}):
        raise errors.INVALID_CONTENT(f"{unknown[0][:80]}: is not a part of this form.")
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise errors.INVALID_CONTENT(f"{twice[0]}: is given more than once.")
    files = request.files.getlist("file")
    if len(files) != 1:
        raise errors.INVALID_CONTENT("file: one part of this name must hold the file.")
    return files[0], uploads.dataset_of(request.form.get("dataset"))


def _row(one: Import) -> dict[str, Any]:
    names = (
        "dataset",
        "file_name",
        "status",
        "reason",
        "rows_in",
        "rows_loaded",
        "rows_quarantined",
        "errors",
        "sha256",
    )
    return {
        "import_id": one.id,
        **{name: getattr(one, name) for name in names},
        "created_at": timestamp(one.created_at),
    }
