"""Where a payment processor or a provider sends the browser back to: how that ended, for whoever may know it."""

from __future__ import annotations

import uuid

from flask import Blueprint, Response
from sqlalchemy.orm import Session

from api import context, db, errors, reach
from api.guard import public
from api.models import Handoff, User, Workspace
from api.pages import browser
from api.pages.sign_in import way_in
from api.quoting import straight
from api.v1.billing.handoffs import told

NOUNS = {"checkout": "payment", "plan_selection": "choice of a plan", "connect": "connection"}
ENDS = {
    "payment_refused": "The payment was refused. Nothing was charged; try again with another means of payment.",
    "provider_denied": "The other side did not give its permission. Nothing was connected.",
    "account_connected_elsewhere": "The account is connected to another profile already. Nothing was connected.",
    "abandoned": "It was not finished in time. Nothing was changed; begin again.",
}

bp = Blueprint("handoff_pages", __name__)


@bp.get("/handoffs/<page_id>")
@public
def came_back(page_id: str) -> Response:
    """How a hand-off ended."""
    with db.unit(context.settings().operational_url) as session:
        person = browser.signed_in(session)
        found = _found(session, person, page_id) if person else None
    if person is None:
        text = "Go back to where you began: it knows how this ended. Or sign in to see it here."
        return browser.notice(200, "You are back", text, back=(way_in(f"/handoffs/{_written(page_id)}"), "Sign in"))
    if found is None:
        return browser.notice(404, "There is nothing here", "This page is unknown, or not for you.")
    return _shown(*found)


def _found(session: Session, person: User, page_id: str) -> tuple[Handoff, Workspace] | None:
    handoff = session.get(Handoff, _written(page_id))
    if handoff is None:
        return None
    try:
        seen = reach.of_person(
            session, person.id, workspace_id=handoff.workspace_id, profile_id=handoff.profile_id
        )  # fmt: skip
    except errors.ApiError:
        return None
    return (handoff, seen.workspace) if seen.workspace else None


def _shown(handoff: Handoff, workspace: Workspace) -> Response:
    state = told(handoff)
    noun, result = NOUNS[handoff.kind], state["result"] or {}
    if state["status"] == "completed":
        return browser.notice(200, "That is done", _success(handoff.kind, workspace, result))
    if state["status"] == "pending":
        text = f"The {noun} is not finished, or its confirmation is still on its way, which takes a moment."
        return browser.notice(200, "Not finished yet", text, back=(f"/handoffs/{handoff.id}", "Look again"))
    if state["status"] == "canceled":
        text = f"A newer {noun} took its place, or what it was for has ended."
        return browser.notice(200, "This is over", text)
    return browser.notice(200, "That did not work", ENDS.get(state["reason"], f"The {noun} failed. Begin again."))


def _success(kind: str, workspace: Workspace, result: dict[str, object]) -> str:
    if kind == "connect":
        return f"The connection stands; accounts found: {result.get('accounts_found', 0)}. Go on where you began."
    name = straight(workspace.name)
    return f"{name} is on the plan {result.get('plan', workspace.plan)} now. You can close this page."


def _written(page_id: str) -> str:
    try:
        return str(uuid.UUID(page_id))
    except ValueError:
        return "unknown"
