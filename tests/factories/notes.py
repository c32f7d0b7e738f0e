"""A small noun served beside the product's own routes, to test the machinery that every route shares."""

from __future__ import annotations

import errno
import os
import threading
from typing import Any

import marshmallow as ma
from marshmallow import fields

from api import auth, context, errors
from api.audit import Attempt, record
from api.auth import Kind
from api.guard import caller_guarded, guarded, workspace_guarded
from api.http import Blueprint
from api.models import Workspace
from api.roles import Role
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


@bp.route("/notes/full")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.response(200, Note)
def note_without_room() -> dict[str, Any]:
    """A note that no room is left for."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/state/notes/someone@example.com")


@bp.route("/notes/unwritable")
@guarded(scope=Scope.CAMPAIGNS_READ)
@bp.response(200, Note)
def unwritable_note() -> dict[str, Any]:
    """A note on a file system that became read-only."""
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/state/notes/someone@example.com")


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
    if title == "unfit":
        raise errors.VALIDATION_ERROR("title: does not fit.")
    if title == "slow":
        turnstile.entered.set()
        turnstile.leave.wait(120)
    if title == "refused":
        raise errors.INVALID_STATE(reason="duplicate_name").audited(Attempt("note.create", {"title": title}))
    if title == "down":
        raise errors.SERVICE_UNAVAILABLE()
    if title == "crash":
        raise RuntimeError("unforeseen")
    return {"id": workspace.id, "title": title, "secret": "once"}


@bp.route("/workspaces/<workspace_id>/notes")
@workspace_guarded()
@bp.response(200, Note(many=True))
def workspace_notes(workspace_id: str) -> list[dict[str, Any]]:
    """Notes of a workspace, of which a guest sees none."""
    reached = auth.current().reach
    return [{"id": workspace_id, "title": reached.role.word if reached.role else None}]


@bp.route("/workspaces/<workspace_id>/notes", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.OWNER, archived_too=True)
@idempotent()
@bp.response(200, Note)
def drop_workspace_notes(workspace_id: str) -> dict[str, Any]:
    """An owner's act, which a former owner may repeat once the workspace is archived."""
    return {"id": workspace_id}


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/notes")
@workspace_guarded(role=Role.VIEWER, uuids=["profile_id"])
@bp.response(200, Note)
def notes_of_a_profile(workspace_id: str, profile_id: str) -> dict[str, Any]:
    """Notes of one profile of a workspace."""
    return {"id": auth.current().profile.id, "title": workspace_id + profile_id}


@bp.route("/notes/mine")
@caller_guarded(kinds={Kind.SESSION})
@bp.response(200, Note)
def my_note() -> dict[str, Any]:
    """A note for whoever is signed in."""
    return {"id": auth.current().person}


@bp.route("/notes/made", methods=["POST"])
@caller_guarded(scope=Scope.WORKSPACES_WRITE)
@idempotent()
@bp.response(200, Note)
def made_note() -> dict[str, Any]:
    """A creation: the grant decides, there is no membership yet."""
    return {"id": auth.current().person}


@bp.route("/notes/app")
@caller_guarded(kinds={Kind.APP})
@bp.response(200, Note)
def app_note() -> dict[str, Any]:
    """A note for apps."""
    return {"id": auth.current().app_id}


@bp.route("/notes/visitors")
@guarded(scope=Scope.VISITORS_READ)
@bp.response(200, Note)
def visitor_note() -> dict[str, Any]:
    """A note about visitors."""
    return {}


@bp.route("/notes/customers")
@guarded(scope=Scope.CUSTOMERS_READ, role=Role.ADMIN)
@bp.response(200, Note)
def customer_note() -> dict[str, Any]:
    """A note about customers, for admins."""
    return {}
