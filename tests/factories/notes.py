"""A small noun served beside the product's own routes, to test the machinery that every route shares."""

from __future__ import annotations

import threading
from typing import Any

import marshmallow as ma
from marshmallow import fields

from api import auth, context, errors
from api.audit import Attempt, record
from api.guard import guarded
from api.http import Blueprint
from api.models import Workspace
from api.scopes import Scope
from api.writing import actor, idempotent, session

bp = Blueprint("notes", __name__, description="Notes, for tests.")


class NoteQuery(ma.Schema):
    limit = fields.Integer(load_default=10)


class Tag(ma.Schema):
    email = fields.Email(required=True)


class NoteBody(ma.Schema):
    title = fields.String(required=True)
    amount = fields.Float(load_default=0.0)
    customers = fields.List(fields.Nested(Tag), load_default=list)


class Note(ma.Schema):
    id = fields.String()
    title = fields.String()
    secret = fields.String(allow_none=True)


class Turnstile:
    """Lets a test hold a write inside its view."""

    def __init__(self) -> None:
        self.entered, self.leave = threading.Event(), threading.Event()


turnstile = Turnstile()


@bp.route("/notes")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(NoteQuery, location="query")
@bp.response(200, Note(many=True))
def note_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """Some notes."""
    context.meta(asked=query["limit"])
    return [{"id": str(number), "title": "n" * 40} for number in range(query["limit"])]


@bp.route("/notes/costly")
@guarded(scope=Scope.CAMPAIGNS_READ, units=3)
@bp.response(200, Note(many=True))
def costly_notes() -> list[dict[str, Any]]:
    """Notes that cost three units."""
    return []


@bp.route("/notes/broken")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.response(200, Note)
def broken_note() -> dict[str, Any]:
    """A note that fails, with secrets in its exception."""
    principal = auth.current()
    raise RuntimeError(f"someone@example.com +4915112345678 {principal.id} tl_live_{'A' * 38}")


@bp.route("/notes/refused")
@guarded(scope=Scope.EVENTS_WRITE)
@bp.response(200, Note)
def refused_note() -> dict[str, Any]:
    """A note that a default key may not read."""
    return {}


@bp.route("/notes/id/<note_id>")
@guarded(scope=Scope.CAMPAIGNS_READ, uuids=["note_id"])
@bp.response(200, Note)
def one_note(note_id: str) -> dict[str, Any]:
    """A note by its id."""
    return {"id": note_id}


@bp.route("/notes", methods=["POST"])
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.arguments(NoteBody)
@idempotent(once_shown=["secret"])
@bp.response(201, Note)
def create_note(body: dict[str, Any]) -> dict[str, Any]:
    """Make a workspace named after the note, so that the effect can be counted."""
    title = body["title"]
    workspace = Workspace(name=title)
    session().add(workspace)
    session().flush()
    record(session(), actor(), Attempt("note.create"))
    if title == "slow":
        turnstile.entered.set()
        turnstile.leave.wait(10)
    if title == "refused":
        raise errors.INVALID_STATE(reason="duplicate_name").audited(Attempt("note.create", {"title": title}))
    if title == "down":
        raise errors.SERVICE_UNAVAILABLE()
    if title == "crash":
        raise RuntimeError("unforeseen")
    return {"id": workspace.id, "title": title, "secret": "once"}
