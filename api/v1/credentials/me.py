"""GET and PATCH /me, GET /me/sessions, DELETE /me/sessions/{id}."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import auth, context, db, errors, op_lists, reach, sign_in
from api.audit import Attempt, record
from api.auth import Kind
from api.db import now
from api.guard import caller_guarded
from api.http import Blueprint
from api.models import Membership, Profile, ProfileMembership, UserSession, Workspace
from api.op_lists import By, ListQuery
from api.roles import Role
from api.v1.credentials.me_schemas import EndedSession, Me, MeBody, SessionRow
from api.writing import actor, idempotent, session

bp = Blueprint("me", __name__, description="The signed-in person, their sessions and the tokens of their agents.")


@bp.route("/me")
@caller_guarded(kinds={Kind.SESSION})
@bp.response(200, Me)
def signed_in_person() -> dict[str, Any]:
    """Who is signed in, and where they belong

    For sessions only. Archived workspaces are left out, and a guest's `profile_ids` hold live profiles only. What each
    role and permission opens is listed in docs/routes.md.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return _told(reading, auth.current().person)


@bp.route("/me", methods=["PATCH"])
@caller_guarded(kinds={Kind.SESSION})
@bp.arguments(MeBody)
@idempotent()
@bp.response(200, Me)
def change_person(body: dict[str, Any]) -> dict[str, Any]:
    """Change the own name or language

    Members left out keep their values, and null takes a name away. The language is that of the person's mail.
    """
    person = reach.person(session(), auth.current().person)
    for name, value in body.items():
        setattr(person, name, value)
    session().flush()
    return _told(session(), person.id)


@bp.route("/me/sessions")
@caller_guarded(kinds={Kind.SESSION})
@bp.arguments(ListQuery, location="query")
@bp.response(200, SessionRow(many=True))
def session_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The own live sessions, newest first

    Without tokens, and without sessions that ended or ran out. `current` is the one that asks.
    """
    principal = auth.current()
    chosen = sa.select(UserSession).where(UserSession.user_id == principal.person, *sign_in.live_at(now()))
    order = [
        By(UserSession.created_at, lambda row: row.created_at, descending=True),
        By(UserSession.id, lambda row: row.id),
    ]
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = op_lists.page(
            reading, chosen, order, query, route="/me/sessions", owner=principal.person, filters={}
        )  # fmt: skip
    return [
        {
            "id": row.id,
            "created_at": row.created_at,
            "last_seen_at": row.last_seen_at,
            "user_agent": row.user_agent,
            "current": row.id == principal.id,
        }
        for row in rows
    ]


@bp.route("/me/sessions/<session_id>", methods=["DELETE"])
@caller_guarded(kinds={Kind.SESSION}, uuids=["session_id"])
@idempotent()
@bp.response(200, EndedSession)
def end_other_session(session_id: str) -> dict[str, Any]:
    """End one of the own sessions

    Its token opens nothing from the next request on. It may be the one that asks. Ended twice it tells the first end; a
    session of somebody else is 404.
    """
    row = session().get(UserSession, session_id, with_for_update=True)
    if row is None or row.user_id != auth.current().person:
        raise errors.NOT_FOUND()
    if row.revoked_at is None:
        row.revoked_at = now()
        target = {"kind": "session", "id": row.id, "label": None}
        record(session(), actor(), Attempt("session.ended", {"target": target}, category="credentials"))
    return {"id": row.id, "ended": True, "ended_at": row.revoked_at}


def _told(reading: Session, user_id: str) -> dict[str, Any]:
    person = reach.person(reading, user_id)
    placed = reading.execute(reach.workspaces_of(user_id).order_by(Membership.created_at, Membership.id)).all()
    return {
        "user_id": person.id,
        "email": person.email,
        "email_verified": person.email_verified_at is not None,
        "first_name": person.first_name,
        "last_name": person.last_name,
        "locale": person.locale,
        "memberships": [_place(reading, workspace, membership) for workspace, membership in placed],
    }


def _place(reading: Session, workspace: Workspace, membership: Membership) -> dict[str, Any]:
    profile_ids = None
    if membership.role == Role.GUEST.word:
        opened = (
            sa.select(Profile.id)
            .join(ProfileMembership, ProfileMembership.profile_id == Profile.id)
            .where(ProfileMembership.membership_id == membership.id, Profile.archived_at.is_(None))
        )
        profile_ids = list(reading.scalars(opened.order_by(Profile.id)))
    return {
        "workspace_id": workspace.id,
        "name": workspace.name,
        "role": membership.role,
        "profile_ids": profile_ids,
    }
