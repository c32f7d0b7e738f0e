"""GET and POST /workspaces; DELETE and PATCH of one; the profiles in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import sqlalchemy as sa

from api import auth, billing, context, db, op_lists, reach
from api.audit import Attempt, record, target
from api.auth import Kind
from api.guard import PEOPLE, caller_guarded, workspace_guarded
from api.http import Blueprint
from api.models import Handoff, Profile, Workspace
from api.op_lists import By, ListQuery
from api.roles import Role
from api.scopes import Scope
from api.v1.profiles.shape import ProfileShape
from api.v1.profiles.shape import told as profiles_told
from api.v1.workspaces import creation
from api.v1.workspaces.archive import archive
from api.v1.workspaces.schemas import (
    Archived,
    CreatedWorkspace,
    OwnWorkspaceBody,
    ProvisionedWorkspaceBody,
    WorkspaceBody,
    WorkspaceChange,
    WorkspaceProfilesQuery,
)
from api.v1.workspaces.shape import WorkspaceShape, told
from api.writing import actor, idempotent, session

bp = Blueprint("workspaces", __name__, description="Workspaces: the containers of members, plan and profiles.")

ORDER = (
    By(Workspace.name.expression, lambda row: row.Workspace.name),
    By(Workspace.id.expression, lambda row: row.Workspace.id),
)
PROFILE_ORDER = (
    By(Profile.name.expression, lambda profile: profile.name),
    By(Profile.id.expression, lambda profile: profile.id),
)
EITHER_BODY = {"content": {"application/json": {"schema": {"oneOf": [OwnWorkspaceBody, ProvisionedWorkspaceBody]}}}}


@bp.route("/workspaces")
@caller_guarded(scope=Scope.ANALYTICS_READ)
@bp.arguments(ListQuery, location="query")
@bp.response(200, WorkspaceShape(many=True))
def workspace_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The workspaces that the caller belongs to

    By name, each with the caller's role; a token sees those of its person, an API key has none and is refused. Archived
    ones are left out.
    """
    caller = auth.current()
    wanted = cast("sa.Select[Any]", reach.workspaces_of(caller.person))
    named = caller.reach.workspace
    if named is not None:
        wanted = wanted.where(Workspace.id == named.id)
    filters = {"workspace_id": named.id if named else None}
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading, wanted, ORDER, query, route="/workspaces", owner=caller.person, filters=filters
        )  # fmt: skip
        return told(reading, [(row.Workspace, row.Membership.role) for row in rows], caller.person)


@bp.route("/workspaces", methods=["POST"])
@caller_guarded(scope=Scope.WORKSPACES_WRITE, kinds={*PEOPLE, Kind.APP})
@bp.doc(requestBody=EITHER_BODY)
@bp.arguments(WorkspaceBody)
@idempotent()
@bp.response(201, CreatedWorkspace)
@bp.alt_response(200, schema=CreatedWorkspace, description="The workspace made by the same request just before.")
def create_workspace(body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Create a workspace

    A person's own, which a repeat within ten minutes finds again; or, for an app, one that the named user owns.
    """
    return _provision(body) if auth.current().kind is Kind.APP else _create(body)


@bp.route("/workspaces/<workspace_id>", methods=["PATCH"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(WorkspaceChange)
@idempotent()
@bp.response(200, WorkspaceShape)
def change_workspace(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Rename a workspace, or move it to another time zone

    Members left out keep their values. The time zone is that of new profiles, and of the days of pacing and of the
    logs; each profile keeps its own, so no figure of attribution moves.
    """
    workspace = session().get_one(Workspace, workspace_id, with_for_update={"key_share": True})
    before = {name: getattr(workspace, name) for name in body}
    for name, value in body.items():
        setattr(workspace, name, value)
    details = {"target": target("workspace", workspace.id, workspace.name), "before": before, "after": body}
    record(session(), actor(), Attempt("workspace.changed", details))
    caller = auth.current()
    held = caller.reach.role or Role.GUEST
    return told(session(), [(workspace, held.word)], caller.person)[0]


@bp.route("/workspaces/<workspace_id>", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.OWNER, archived_too=True)
@idempotent()
@bp.response(200, Archived)
def archive_workspace(workspace_id: str) -> dict[str, Any]:
    """Archive a workspace, for ever

    Its profiles are archived and their data removed, keys and invitations revoked, memberships ended. Its owners may
    ask again and get the first archive; for everybody else it is unknown from now on.
    """
    done = archive(session(), workspace_id=workspace_id, by=auth.current().person, at=db.now())
    if done.is_first:
        workspace = session().get_one(Workspace, workspace_id)
        details = {
            "target": target("workspace", workspace.id, workspace.name),
            "after": {**done.counts, "profiles_purged": done.profiles_purged},
        }
        record(session(), actor(), Attempt("workspace.archived", details))
    return {
        "workspace_id": workspace_id,
        "archived": done.is_first,
        "archived_at": done.at,
        "counts": done.counts,
        "profiles_purged": done.profiles_purged,
    }


@bp.route("/workspaces/<workspace_id>/profiles")
@workspace_guarded()
@bp.arguments(WorkspaceProfilesQuery, location="query")
@bp.response(200, ProfileShape(many=True))
def workspace_profiles(query: dict[str, Any], workspace_id: str) -> list[dict[str, Any]]:
    """The profiles of a workspace that the caller can open

    By name; a guest sees those they have a place on. A demo is among them only with `include_demo`; archived ones never
    are.
    """
    caller = auth.current()
    wanted = reach.profiles_of(caller.person).where(Profile.workspace_id == workspace_id)
    if not query["include_demo"]:
        wanted = wanted.where(Profile.is_demo.is_(False))
    only = caller.reach.profile.id if caller.reach.profile else None
    if only is not None:
        wanted = wanted.where(Profile.id == only)
    filters = {"include_demo": query["include_demo"], "profile_id": only, "person": caller.person}
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading, wanted, PROFILE_ORDER, query, route="W/profiles", owner=workspace_id, filters=filters
        )  # fmt: skip
        return profiles_told(reading, rows, caller)


def _create(body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    caller, workspace_id = auth.current(), db.new_id()
    # before the first statement: a slow processor must not keep the database's one writer
    asked = _asked_checkout(workspace_id, body)
    by_agent = caller.kind is Kind.USER_TOKEN
    made, is_new = creation.own(
        session(), workspace_id=workspace_id, user_id=caller.person, by_agent=by_agent, body=body, at=db.now()
    )
    answer = {"workspace_id": made.id, "name": made.name, "created": is_new, "checkout": None}
    context.meta(workspace_id=made.id)
    if not is_new:
        return answer, 200
    _record_created(made, {name: body[name] for name in ("timezone", "plan", "currency")})
    if isinstance(asked, billing.Problem):
        return {**answer, "warnings": [{"code": "checkout_unavailable", "message": asked.message}]}, 201
    if asked is not None:
        session().add(asked)
    return {**answer, "checkout": asked}, 201


def _asked_checkout(workspace_id: str, body: dict[str, Any]) -> Handoff | billing.Problem | None:
    """The page to pay on, or why there is none; starter costs nothing, and neither does a repeat."""
    settings = context.settings()
    if body["plan"] == "starter":
        return None
    with db.transaction(settings.operational_url, durable=False) as reading:
        if creation.just_made(reading, auth.current().person, body["name"], db.now()) is not None:
            return None
    return billing.ask_checkout(settings, workspace_id=workspace_id, plan=body["plan"], interval="month", customer=None)


def _provision(body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    app = auth.current().app
    if app is None:
        raise LookupError("an app's credential without an app")
    made, owner = creation.provisioned(session(), app=app, body=body, at=db.now())
    context.meta(workspace_id=made.id)
    _record_created(made, {"timezone": body["timezone"], "owner": owner.id})
    answer = {"workspace_id": made.id, "name": made.name, "created": True, "checkout": None, "user_id": owner.id}
    return answer, 201


def _record_created(made: Workspace, after: dict[str, Any]) -> None:
    who = replace(actor(), workspace_id=made.id)
    details = {"target": target("workspace", made.id, made.name), "after": after}
    record(session(), who, Attempt("workspace.created", details))
