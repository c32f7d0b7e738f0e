"""Accepting an invitation with a browser: its token comes behind the "#" of the link, and leaves it at once."""

from __future__ import annotations

from flask import Blueprint, Response, request

from api import audit, context, db, errors
from api.db import now
from api.guard import public
from api.models import Invitation, User, Workspace
from api.pages import browser
from api.pages.sign_in import way_in
from api.v1.members import invitations

SCRIPTED = "form-action 'self'; script-src 'self'"
PLACE = "/invitations"
TOLD = {
    "not_found": "There is no such invitation, or the profiles it was for are archived. Check that the link is whole.",
    "email_mismatch": "This invitation is for another e-mail address. Sign in under that one.",
    "already_accepted": "This invitation was accepted already.",
    "already_revoked": "This invitation was taken back. Ask for a new one.",
    "invitation_expired": "This invitation has expired. Ask for a new one.",
    "workspace_archived": "The workspace of this invitation is archived, so nobody can join it.",
    "already_member": "You are a member of this workspace already.",
    "plan_upgrade_required": "The workspace has no place left under its plan. Tell whoever invited you.",
}

bp = Blueprint("invitation_pages", __name__)


@bp.get("/invitations")
@public
def invited() -> Response:
    """Accept an invitation."""
    with db.unit(_url()) as session:
        person = browser.signed_in(session)
    return _form(person)


@bp.route("/invitations", methods=["POST"])
@public
def join() -> Response:
    """Take the place that an invitation gives."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    with db.unit(_url()) as session:
        person = browser.signed_in(session)
    if person is None:
        return browser.go(way_in(PLACE))
    token = request.form.get("token", "").strip().removeprefix("#")
    try:
        return _accepted(person, token)
    except errors.ApiError as refusal:
        if refusal.reason == "already_accepted" and (welcome := _accepted_just_now(token)):
            return welcome
        known = TOLD.get(refusal.reason or "") or TOLD.get(refusal.code.code)
        if known is None:
            raise
        return _form(person, refusal.code.status, known)


def _accepted(person: User, token: str) -> Response:
    key = context.settings().signing_key()
    with db.unit(_url()) as session:
        invitation, workspace, _ = invitations.accept(session, user_id=person.id, token=token, key=key)
        actor = audit.Actor("session", person.id, workspace.id, invitation.profile_id, context.request_id())
        target = {"kind": "invitation", "id": invitation.id, "label": None}
        attempt = audit.Attempt("invitation.accepted", {"target": target, "role": invitation.role}, category="members")
        audit.record(session, actor, attempt)
    return _welcome(invitation, workspace)


def _accepted_just_now(token: str) -> Response | None:
    """The answer to the first of two clicks once more; whoever asks was found to be the invited person."""
    with db.unit(_url()) as session:
        invitation, workspace = invitations.named(session, token)
    at = invitation.accepted_at
    return _welcome(invitation, workspace) if at is not None and now() - at < browser.AGAIN_WITHIN else None


def _welcome(invitation: Invitation, workspace: Workspace) -> Response:
    some = invitations.profiles_of(invitation) is not None
    return browser.page("joined.html", policy=SCRIPTED, workspace=workspace, role=invitation.role, some=some)


def _form(person: User | None, status: int = 200, problem: str = "") -> Response:
    typed = request.form.get("token", "")
    return browser.page("invitation.html", status, policy=SCRIPTED, person=person, problem=problem, typed=typed)


def _url() -> str:
    return context.settings().operational_url
