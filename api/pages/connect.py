"""Who asks to be let in to an account, where the provider sends people back to, and making a lost connection anew."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode, urlsplit

import structlog
from flask import Blueprint, Response, request
from sqlalchemy.orm import Session

from api import audit, connecting, context, db, errors, leading, providers, reach
from api.body_fields import UUID
from api.connections import PATIENCE
from api.guard import public
from api.models import Connection, Handoff, Profile, User, Workspace
from api.models.connection import HOLDING
from api.pages import browser
from api.pages.sign_in import way_in
from api.roles import Role
from api.scopes import Scope
from api.v1.connections.connecting import renewable
from connectors.authorizing import code_in, redeem
from connectors.errors import ConnectorError
from connectors.grants import Grant
from connectors.transport import Transport

WITHIN_SECONDS = 20.0
LONGEST = 4096
NOTHING = ("There is nothing here", "This page is unknown, or not for you.")

bp = Blueprint("connect_pages", __name__)
log = structlog.get_logger("api.pages.connect")


@bp.get("/handoffs/<page_id>/begin")
@public
def ask(page_id: str) -> Response:
    """Say who asks to be let in to an account, before the provider asks on our behalf."""
    with db.unit(context.settings().operational_url) as session:
        found = leading.open_hand_off(session, page_id)
        if found is None:
            return _over()
        return _asking(session, *found)


@bp.route("/handoffs/<page_id>/begin", methods=["POST"])
@public
def go_on(page_id: str) -> Response:
    """Go on to the provider."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    settings = context.settings()
    with db.unit(settings.operational_url) as session:
        found = leading.open_hand_off(session, page_id)
        if found is None:
            return _over()
        try:
            return browser.go(_provider(found[0], found[1].provider_word))
        except errors.ApiError as refusal:
            return _not_now(refusal)


@bp.get("/connect/<provider>/callback")
@public
def came_back(provider: str) -> Response:
    """Take what the provider says, and lead on to where the person began."""
    state = request.args.get("state", "")[:LONGEST]
    settings = context.settings()
    # the state is used up before anything is asked, so that it serves once whatever comes of it
    with db.unit(settings.operational_url) as session:
        handoff = leading.claim(session, provider=provider, state=state, visitor=browser.visitor())
    if handoff is None:
        return _over()
    # without a code somebody said no, whatever else is in the address
    code = code_in(providers.SPOKEN[provider].ours, request.args)[:LONGEST]
    grant = _redeemed(handoff, provider, code) if code else None
    with db.unit(settings.operational_url) as session:
        if grant is None:
            connecting.fail(session, settings, handoff.id, "provider_denied")
        else:
            connecting.settle(session, settings, handoff.id, grant)
        _trail(session, session.get_one(Handoff, handoff.id))
    return browser.go(_onward(handoff))


@bp.get("/connect/<provider>")
@public
def renew(provider: str) -> Response:
    """Ask whether a lost connection is to be made anew."""
    with db.unit(context.settings().operational_url) as session:
        person = browser.signed_in(session)
        found = _lost(session, person, provider) if person else None
    if person is None:
        return browser.go(way_in(_here(provider)))
    if found is None:
        return browser.notice(404, *NOTHING)
    return browser.page(
        "connect.html", connection=found, person=person, action=_here(provider), policy=_policy(provider)
    )


@bp.route("/connect/<provider>", methods=["POST"])
@public
def renew_now(provider: str) -> Response:
    """Begin the hand-off, and go to the provider."""
    if not browser.is_ours(request.form.get(browser.FIELD)):
        return browser.stale_form()
    settings = context.settings()
    with db.unit(settings.operational_url) as session:
        person = browser.signed_in(session)
        if person is None:
            return browser.go(way_in(_here(provider)))
        found = _lost(session, person, provider)
        if found is None:
            return browser.notice(404, *NOTHING)
        try:
            asked = providers.client(settings, provider)
            providers.require_up(asked, settings)
            renewable(found, provider, asked)
            profile = _entitled(session.get_one(Profile, found.profile_id))
        except errors.ApiError as refusal:
            return _not_now(refusal)
        made = connecting.begin(
            session, settings, provider=provider, profile=profile, return_url=None, renewed=found
        )  # fmt: skip
        actor = audit.Actor("session", person.id, profile.workspace_id, profile.id, context.request_id())
        about = {"target": audit.target("connection", found.id, found.display_name), "after": {"is_new": False}}
        audit.record(session, actor, audit.Attempt("connection.begun", about))
        # the page before this one said what is connected anew, to somebody who may do that
        return browser.go(_provider(made, provider))


def _provider(handoff: Handoff, provider: str) -> str:
    return leading.lead_on(context.settings(), handoff, provider=provider, visitor=browser.visitor())


def _asking(session: Session, handoff: Handoff, connection: Connection) -> Response:
    provider = connection.provider_word
    try:
        page = urlsplit(providers.client(context.settings(), provider).page)
    except errors.ApiError as refusal:
        return _not_now(refusal)
    return browser.page(
        "let_in.html",
        workspace=session.get_one(Workspace, handoff.workspace_id),
        profile=session.get_one(Profile, handoff.profile_id),
        is_anew=connection.status in HOLDING,
        host=page.netloc,
        action=f"/handoffs/{handoff.id}/begin",
        policy=_policy(provider),
    )


def _over() -> Response:
    text = (
        "This address was used already, is over an hour old, was never given out, or was begun in another browser. "
        "Begin again."
    )
    return browser.notice(400, "This link is over", text)


def _not_now(refusal: errors.ApiError) -> Response:
    refused = browser.notice(refusal.code.status, "That is not possible now", refusal.message)
    refused.headers.update(refusal.headers)
    return refused


def _redeemed(handoff: Handoff, provider: str, code: str) -> Grant | None:
    settings = context.settings()
    try:
        client = providers.client(settings, provider)
        with Transport(PATIENCE, within=WITHIN_SECONDS) as transport:
            return redeem(client, transport, code=code, back=providers.back_to(settings, provider))
    except (ConnectorError, errors.ApiError) as problem:
        log.warning("grant_not_redeemed", handoff=handoff.id, reason=problem.reason)
        return None


def _onward(handoff: Handoff) -> str:
    if handoff.return_url is None:
        return f"/handoffs/{handoff.id}"
    begun, _, asked = handoff.return_url.partition("?")
    return f"{begun}?{asked}{'&' if asked else ''}{urlencode({'handoff_id': handoff.id})}"


def _trail(session: Session, handoff: Handoff) -> None:
    after = {"status": handoff.status, "reason": handoff.reason}
    about = {"target": audit.target("connection", handoff.connection_id or "", None), "after": after}
    actor = audit.Actor("system", None, handoff.workspace_id, handoff.profile_id, context.request_id())
    audit.record(session, actor, audit.Attempt("connection.came_back", about))


def _lost(session: Session, person: User, provider: str) -> Connection | None:
    """The connection that the address names, if this person may change connections of its profile."""
    number = request.args.get("reconnect_connection_id", "").lower()
    connection = session.get(Connection, number) if re.fullmatch(UUID, number) else None
    if connection is None or connection.provider_word != provider:
        return None
    try:
        seen = reach.of_person(session, person.id, workspace_id=None, profile_id=connection.profile_id)
    except errors.ApiError:
        return None
    may_change = Scope.CONNECTIONS_WRITE in seen.scopes and (seen.role or Role.GUEST) >= Role.EDITOR
    return connection if may_change else None


def _entitled(profile: Profile) -> Profile:
    if profile.provisioned_by_app_id is not None and not profile.attribution_enabled:
        raise errors.ENTITLEMENT_REQUIRED()
    return profile


def _here(provider: str) -> str:
    number = request.args.get("reconnect_connection_id", "")[:64]
    return f"/connect/{quote(provider, safe='')}?{urlencode({'reconnect_connection_id': number})}"


def _policy(provider: str) -> str:
    # browsers hold a form to this all along its way: a provider leads phones to another host than others, and whoever
    # said yes before at once back to us, from where it goes on to whoever began
    try:
        page = urlsplit(providers.client(context.settings(), provider).page)
    except errors.ApiError:
        return "form-action 'self'"
    sandbox = f" {page.scheme}://{page.netloc}" if page.scheme == "http" else ""
    return f"form-action 'self' https:{sandbox}"
