"""Profiles, keys and plans, from the command line."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import app_names
from api.audit import Actor, Attempt, record, target
from api.credentials import mint_api_key
from api.db import now, transaction
from api.errors import ApiError
from api.models import ApiKey, App, Profile, Workspace
from api.models.profile import LONGEST_NAME
from api.oauth import families
from api.scopes import DEFAULT_SCOPES, Scope
from api.subscriptions import grant
from api.v1.credentials import keys
from data_contracts.formats import Refused, currency_digits, reporting_currency, time_zones
from data_contracts.values import clean_text
from touchledger.settings import Settings

OWN_WORKSPACE = "Touchledger"
LONGEST_KEY_NAME = 80


def unknown(kind: str, id_: str, hint: str) -> click.BadParameter:
    """The refusal of an id that names no profile, workspace or key, with the command that lists them."""
    return click.BadParameter(
        f"there is no {kind} {id_!r}; `touchledger {kind} list` tells which there are", param_hint=hint
    )


def create_profile(settings: Settings, *, name: str, timezone: str, currency: str) -> str:
    """A new profile in the deployment's own workspace; gives its id.

    Raises BadParameter for a name of no length, over 120 characters or of no text, for an unknown time zone, and for a
    currency that is unknown or over.
    """
    name = _written(name, LONGEST_NAME)
    if timezone not in time_zones():
        near = difflib.get_close_matches(timezone, sorted(time_zones()), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise click.BadParameter(f"{timezone!r} is not an IANA time zone{hint}", param_hint="--timezone")
    if currency not in currency_digits():
        raise click.BadParameter(f"{currency!r} is not an ISO 4217 currency", param_hint="--currency")
    try:
        reporting_currency(currency)
    except Refused as refused:
        raise click.BadParameter(f"{currency} is {refused}", param_hint="--currency") from None
    with transaction(settings.operational_url) as session:
        workspace = own_workspace(session)
        profile = Profile(workspace_id=workspace.id, name=name, timezone=timezone, reporting_currency=currency)
        session.add(profile)
        session.flush()
        return profile.id


def grant_plan(settings: Settings, *, workspace_id: str, plan: str) -> dict[str, str]:
    """Give a workspace a plan that nobody pays for here; tells its id, name, plan and status.

    Raises BadParameter for an unknown or archived workspace, ClickException when as much is paid for already and
    nothing was given that could be taken back.
    """
    with transaction(settings.operational_url) as session:
        workspace = session.get(Workspace, workspace_id, with_for_update={"key_share": True})
        if workspace is None or workspace.archived_at is not None:
            raise unknown("workspace", workspace_id, "WORKSPACE")
        try:
            standing = grant(session, workspace=workspace, plan=plan)
        except ApiError as refusal:
            raise click.ClickException(refusal.message) from None
        return {"workspace_id": workspace.id, "name": workspace.name, "plan": standing.plan, "status": standing.status}


def own_workspace(session: Session) -> Workspace:
    """The workspace that commands make profiles in: made when there is none, or it was archived."""
    own = sa.select(Workspace).where(Workspace.is_own, Workspace.archived_at.is_(None))
    workspace = session.scalars(own.order_by(Workspace.created_at).limit(1)).one_or_none()
    if workspace is None:
        workspace = Workspace(name=OWN_WORKSPACE, is_own=True)
        session.add(workspace)
        session.flush()
    return workspace


def mint_key(settings: Settings, *, profile_id: str, scopes: Sequence[str], name: str, app: str | None = None) -> str:
    """A new API key in plain text, which is kept nowhere; with the name of an `app` it is that app's partner key.

    An app is made by its first key. Raises BadParameter for a name of no length, over 80 characters or of no text, an
    unknown or archived profile, an unknown scope and a suspended app.
    """
    name = _written(name, LONGEST_KEY_NAME)
    strange = [scope for scope in scopes if scope not in set(Scope)]
    if strange:
        raise click.BadParameter(f"{', '.join(strange)}: known are {', '.join(Scope)}", param_hint="--scope")
    with transaction(settings.operational_url) as session:
        profile = session.get(Profile, profile_id)
        if profile is None or profile.archived_at is not None:
            raise unknown("profile", profile_id, "--profile")
        app_id = _app_named(session, app).id if app else None
        _, secret = mint_api_key(
            session, profile_id=profile_id, scopes=scopes or DEFAULT_SCOPES, name=name, app_id=app_id
        )
        return secret


def revoke_key(settings: Settings, *, key_id: str) -> dict[str, str]:
    """End a key now; {key_id, name, profile_id}. BadParameter for an unknown key, ClickException for an ended one."""
    with transaction(settings.operational_url) as session:
        found = session.get(ApiKey, key_id)
        if found is None:
            raise unknown("key", key_id, "KEY")
        workspace_id = session.get_one(Profile, found.profile_id).workspace_id
        families.hold_key(session, found, workspace_id)
        if not keys.revoke(found):
            raise click.ClickException(f"the key is {keys.status_of(found, now())} already")
        actor = Actor("system", None, workspace_id, found.profile_id)
        record(
            session,
            actor,
            Attempt("api_key.revoked", {"target": target("api_key", found.id, found.name)}, "credentials"),
        )
        return {"key_id": found.id, "name": found.name, "profile_id": found.profile_id}


def _written(name: str, longest: int) -> str:
    try:
        text = clean_text(name)
    except Refused as refused:
        raise click.BadParameter(f"the name {refused}", param_hint="--name") from None
    if not 0 < len(text) <= longest:
        raise click.BadParameter(f"a name has 1 to {longest} characters", param_hint="--name")
    return text


def _app_named(session: Session, name: str) -> App:
    app = session.scalars(sa.select(App).where(App.name == name)).one_or_none()
    if app is None:
        if not app_names.is_plain(name):
            raise click.BadParameter(f"{name!r} is too long or has odd characters", param_hint="--app")
        twin = session.scalar(sa.select(App.name).where(App.name_key == app_names.key_of(name)))
        if twin is not None:
            raise click.BadParameter(f"there is an app {twin!r}, which reads the same", param_hint="--app")
        app = App(name=name)
        session.add(app)
        session.flush()
    if app.status != "active":
        raise click.BadParameter(f"the app {name!r} is suspended", param_hint="--app")
    return app
