"""The page on which a person lets an agent or an app in, or does not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Error
from authlib.oauth2.rfc6749.errors import UnsupportedResponseTypeError
from flask import Blueprint, Response, request
from sqlalchemy.orm import Session

from api import audit, context, reach
from api.body_fields import UUID
from api.db import now
from api.guard import public
from api.models import Membership, OAuthAuthorization, OAuthCode, Profile, User, Workspace
from api.oauth import clients, redirects
from api.oauth.grants import WITH_PEOPLE, CodeGrant, healthcare_refusal
from api.oauth.server import server, unit
from api.pages import browser
from api.pages.sign_in import LONGEST, way_in

DECIDE_WITHIN = timedelta(minutes=10)

bp = Blueprint("consent", __name__)


@bp.get("/oauth/authorize")
@public
def ask() -> Response:
    """Ask a person whether to let a program in."""
    with unit() as session:
        person = browser.signed_in(session)
        try:
            grant = server.get_consent_grant(end_user=person)
        except OAuth2Error as error:
            return _refused(error)
        if person is None:
            return _to_sign_in()
        _note_request(session, person, grant)
        return _form(session, person, grant)


@bp.route("/oauth/authorize", methods=["POST"])
@public
def decide() -> Response:
    """Take the decision, and send the browser back to the program."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    with unit() as session:
        person = browser.signed_in(session)
        if person is None:
            return _to_sign_in()
        try:
            grant = server.get_consent_grant(end_user=person)
        except OAuth2Error as error:
            return _refused(error)
        pending = _pending(session, person, grant)
        if pending is None and (again := _decided_just_now(session, person, grant)):
            return again
        if pending is None:
            text = "You can decide for ten minutes. Go back to the program and begin again."
            return browser.notice(400, "This request is over", text)
        if request.form.get("decision") != "allow":
            pending.status = "denied"
            _audit(session, pending, "denied")
            return _answer(grant, None)
        return _allow(session, person, grant, pending)


@bp.errorhandler(OAuth2Error)
def unreadable(error: OAuth2Error) -> Response:
    """What is refused before the request is read."""
    return _explained(error)


def _allow(session: Session, person: User, grant: CodeGrant, pending: OAuthAuthorization) -> Response:
    if pending.kind == "agent":
        chosen = _ticked(grant)
        if not chosen:
            return _form(session, person, grant, "Choose at least one thing that it may do, or deny.")
        pending.scopes = chosen
    else:
        profile, workspace = _chosen(session, person)
        if profile is None or workspace is None:
            return _form(session, person, grant, "Choose a profile.")
        pending.profile_id, pending.workspace_id = profile.id, workspace.id
        if WITH_PEOPLE in pending.scopes and reach.is_healthcare(workspace, profile):
            pending.status = "denied"
            _audit(session, pending, "denied")
            return server.refused(_stated(healthcare_refusal(grant.redirect_uri)))
    pending.status, pending.granted_at = "granted", now()
    _audit(session, pending, "granted")
    grant.request.authorization = pending
    return _answer(grant, person)


def _ticked(grant: CodeGrant) -> list[str]:
    return [one for one in grant.request.scope.split() if one in request.form.getlist("scope")]


def _decided_just_now(session: Session, person: User, grant: CodeGrant) -> Response | None:
    """The answer to the second of two clicks: that to the first, which the browser gave up, with a new code."""
    of = sa.select(OAuthAuthorization).where(*_of(person, grant)).order_by(OAuthAuthorization.created_at.desc())
    row = session.scalars(of.limit(1).with_for_update()).first()
    if row is None or now() - row.created_at >= DECIDE_WITHIN:
        return None
    if request.form.get("decision") != "allow":
        return _answer(grant, None) if row.status == "denied" else None
    is_agent = row.kind == "agent"
    same = _ticked(grant) == row.scopes if is_agent else request.form.get("profile_id") == row.profile_id
    issued = OAuthCode.authorization_id == row.id
    used = session.scalar(sa.select(OAuthCode.digest).where(issued, OAuthCode.used_at.is_not(None)).limit(1))
    soon = row.granted_at is not None and now() - row.granted_at < browser.AGAIN_WITHIN
    if row.status != "granted" or not (same and soon) or used is not None:
        return None
    session.execute(sa.delete(OAuthCode).where(issued))
    grant.request.authorization = row
    return _answer(grant, person)


def _answer(grant: CodeGrant, person: User | None) -> Response:
    response: Response = server.create_authorization_response(grant.request, grant_user=person, grant=grant)
    return response


def _form(session: Session, person: User, grant: CodeGrant, problem: str = "") -> Response:
    client = grant.request.client
    scopes = grant.request.scope.split()
    return browser.page(
        "consent.html",
        400 if problem else 200,
        policy=_policy(grant.redirect_uri),
        action=_here(),
        sign_out=f"/sign-out?{way_in(_here()).partition('?')[2]}",
        client=client,
        scopes=scopes,
        explained=clients.EXPLAINED,
        profiles=_profiles(session, person) if client.kind == "consumer_app" else [],
        chosen=request.form.get("profile_id"),
        person=person,
        host=redirects.host_of(grant.redirect_uri),
        loopback=redirects.is_loopback(grant.redirect_uri),
        problem=problem,
    )


def _policy(redirect_uri: str) -> str:
    # browsers hold a form to this also where its answer leads, and where that leads in turn
    onward = "https: http:" if redirects.is_loopback(redirect_uri) else "https:"
    return f"form-action 'self' {onward}"


def _refused(error: OAuth2Error) -> Response:
    """Back to the program with the error, or a page where that is no safe thing to do.

    Anybody can register an agent with any https address: a link to us would then lead anywhere, without a person
    having decided anything.
    """
    if isinstance(error, UnsupportedResponseTypeError) and not request.args.get("response_type"):
        # none at all is a kind that nobody supports to Authlib, which says nothing else of it
        error = InvalidRequestError("Missing 'response_type' in request.", redirect_uri=error.redirect_uri)
    target = error.redirect_uri
    trusted = target and (redirects.is_loopback(target) or _client_kind() == "consumer_app")
    return server.refused(_stated(error)) if trusted else _explained(error)


def _explained(error: OAuth2Error) -> Response:
    words = error.get_error_description() or error.error
    text = f"The program that sent you here made a request that we refuse ({error.error}): {words}"
    return browser.notice(400, "This cannot be authorized", text)


def _stated(error: OAuth2Error) -> OAuth2Error:
    error.state = request.args.get("state")
    return error


def _client_kind() -> str | None:
    client = server.query_client(request.args.get("client_id", ""))
    return client.kind if client else None


def _note_request(session: Session, person: User, grant: CodeGrant) -> None:
    row = session.scalars(_requests(person, grant)).first() or OAuthAuthorization(status="requested")
    client = grant.request.client
    row.kind, row.client_id, row.client_name = client.kind, client.client_id, client.name
    row.app_id = client.row.id if isinstance(client, clients.Consumer) else None
    row.user_id, row.scopes, row.created_at = person.id, grant.request.scope.split(), now()
    session.add(row)
    session.flush()


def _pending(session: Session, person: User, grant: CodeGrant) -> OAuthAuthorization | None:
    row = session.scalars(_requests(person, grant).with_for_update()).first()
    live = row is not None and now() - row.created_at < DECIDE_WITHIN and row.scopes == grant.request.scope.split()
    return row if live else None


def _requests(person: User, grant: CodeGrant) -> sa.Select[OAuthAuthorization]:
    return sa.select(OAuthAuthorization).where(*_of(person, grant), OAuthAuthorization.status == "requested")


def _of(person: User, grant: CodeGrant) -> tuple[sa.ColumnElement[bool], ...]:
    client_id = grant.request.client.client_id
    return OAuthAuthorization.client_id == client_id, OAuthAuthorization.user_id == person.id


def _profiles(session: Session, person: User) -> Sequence[Any]:
    administered = reach.profiles_of(person.id).add_columns(Workspace).where(Membership.role.in_(("owner", "admin")))
    return session.execute(administered.order_by(Workspace.name, Profile.name, Profile.id)).all()


def _chosen(session: Session, person: User) -> tuple[Profile, Workspace] | tuple[None, None]:
    wanted = request.form.get("profile_id", "")
    if not re.fullmatch(UUID, wanted):
        return None, None
    # nobody archives it before the consent is kept, which then ends with it
    session.scalar(sa.select(Profile.id).where(Profile.id == wanted).with_for_update(read=True))
    return next(
        ((profile, workspace) for profile, workspace in _profiles(session, person) if profile.id == wanted),
        (None, None),
    )


def _audit(session: Session, row: OAuthAuthorization, verb: str) -> None:
    actor = audit.Actor("session", row.user_id, row.workspace_id, row.profile_id, context.request_id())
    target = {"kind": row.kind, "id": row.id, "label": row.client_name}
    details = {"target": target, "before": None, "after": {"status": row.status, "scopes": list(row.scopes)}}
    audit.record(session, actor, audit.Attempt(f"oauth_authorization.{verb}", details, category="credentials"))


def _to_sign_in() -> Response:
    after = way_in(_here())
    if len(after) <= LONGEST:
        return browser.go(after)
    text = "The request is too long to be kept while you sign in. Sign in, then begin again from the program."
    return browser.notice(400, "Sign in first", text, back=("/sign-in", "Sign in"))


def _here() -> str:
    return f"/oauth/authorize?{request.query_string.decode('ascii', 'replace')}"
