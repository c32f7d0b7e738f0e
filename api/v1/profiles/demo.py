"""POST and DELETE /profiles/demo: a profile of the bundled sandbox's shop, one per workspace."""

from __future__ import annotations

import hashlib
import io
from datetime import datetime
from typing import Any

import marshmallow as ma
import sqlalchemy as sa
from marshmallow import fields
from sqlalchemy.orm import Session

from api import auth, connecting, context, db, errors, plans
from api.audit import Actor, Attempt, record
from api.bodies import Nothing
from api.guard import PEOPLE, caller_guarded
from api.http import Blueprint, answer_error
from api.models import Connection, ConnectionSync, Import, Profile, Workspace
from api.models.connection import ASKED
from api.purge import retire
from api.scopes import Scope
from api.served import profile_facts
from api.snapshot import snapshots
from api.v1.imports import uploads
from api.v1.profiles import creation, demo_shop, places
from api.v1.profiles.demo_shop import Shop
from api.v1.profiles.shape import ProfileShape, told
from api.writing import actor, idempotent, session

bp = Blueprint("demo_profile", __name__, description="A profile to look around in.")


class OfWorkspace(ma.Schema):
    """Whose demo profile it is."""

    workspace_id = fields.UUID(
        load_default=None,
        metadata={"description": "The workspace of the demo profile; needed by whoever belongs to several."},
    )


class DemoProfile(ma.Schema):
    """The demo profile, and whether its figures are there."""

    profile = fields.Nested(ProfileShape, required=True)
    created = fields.Boolean(required=True, metadata={"description": "false: the workspace had one already."})
    seeding = fields.String(
        required=True,
        metadata={"enum": ["queued", "done"], "description": "queued until a snapshot with all of it is published."},
    )


class DemoRemoved(ma.Schema):
    """The archived demo profile."""

    profile_id = fields.UUID(required=True)
    archived = fields.Boolean(required=True, metadata={"description": "Always true."})
    archived_at = fields.DateTime(required=True)
    rows_removed = fields.Integer(required=True, metadata={"description": "Rows kept here, and rows of its files."})


@bp.route("/profiles/demo", methods=["POST"])
@caller_guarded(scope=Scope.PROFILES_WRITE, kinds=PEOPLE)
@bp.arguments(OfWorkspace, location="query")
@bp.arguments(Nothing)
@idempotent()
@bp.alt_response(200, schema=DemoProfile, description="The workspace has one already.")
@bp.response(201, DemoProfile)
def create_demo(_query: dict[str, Any], _body: dict[str, Any]) -> Any:
    """Create and seed the demo profile

    A made-up shop with 120 days of ads, visits, chats, orders and payments, the same everywhere. Its files are loaded
    and its accounts pulled by the next runs; ask again to learn when its figures are there. One per workspace; it
    counts as an active profile. 503 where the sandbox does not run.
    """
    settings = context.settings()
    with db.transaction(settings.operational_url, durable=False) as reading:
        workspace = places.workspace_of(reading, auth.current(), None)
        is_new = _live(reading, workspace) is None
        if is_new:
            plans.require_profile_room(reading, workspace)
    # asked before the write begins: it takes seconds, in which others write
    shop = demo_shop.ask(settings) if is_new else None
    workspace = session().get_one(Workspace, workspace.id, with_for_update={"key_share": True})
    found = _live(session(), workspace)
    profile = found or _made(workspace, shop or demo_shop.ask(settings))
    context.meta(profile_id=profile.id)
    answer = {
        "profile": told(session(), [profile], auth.current())[0],
        "created": found is None,
        "seeding": "done" if found and _is_seeded(session(), found) else "queued",
    }
    return answer, 200 if found else 201


@bp.route("/profiles/demo", methods=["DELETE"])
@caller_guarded(scope=Scope.PROFILES_WRITE, kinds=PEOPLE)
@bp.arguments(OfWorkspace, location="query")
@idempotent()
@bp.response(200, DemoRemoved)
def delete_demo(_query: dict[str, Any]) -> Any:
    """Delete the demo profile

    Archived for good; its data goes as that of any archived profile. Where conversions were exported, the ledger of
    that stays as evidence, and the answer is 409 demo_purge_blocked though all the rest is done.
    """
    workspace = places.workspace_of(session(), auth.current(), None)
    session().refresh(workspace, with_for_update={"key_share": True})
    found = _live(session(), workspace)
    if found is None:
        raise errors.NOT_FOUND("This workspace has no demo profile.")
    # rows of files are counted before the imports that know their number go too
    in_files = session().scalar(sa.select(sa.func.sum(Import.rows_loaded)).where(Import.profile_id == found.id)) or 0
    at = db.now()
    ended = retire(session(), [found.id], at=at)
    removed = ended.rows_removed + in_files
    _record(found, "demo.deleted", {"rows_removed": removed})
    if ended.retained_conversion_exports:
        # an answer and not a raised refusal: what was removed stays removed
        return answer_error(errors.DEMO_PURGE_BLOCKED())
    context.meta(profile_id=found.id)
    return {"profile_id": found.id, "archived": True, "archived_at": at, "rows_removed": removed}


def _live(session: Session, workspace: Workspace) -> Profile | None:
    chosen = sa.select(Profile).where(
        Profile.workspace_id == workspace.id, Profile.is_demo, Profile.archived_at.is_(None)
    )
    return session.scalars(chosen.order_by(Profile.id).limit(1)).one_or_none()


def _made(workspace: Workspace, shop: Shop) -> Profile:
    settings = context.settings()
    body = {"name": shop.name, "timezone": shop.timezone, "currency": shop.currency, "website": None}
    hosts = {"own_domains": list(shop.own_domains), "payment_hosts": list(shop.payment_hosts)}
    profile = creation.add(workspace, body, may_share_name=True, is_demo=True, **hosts)
    for account in shop.accounts:
        base_url = f"{settings.sandbox_url}/{account['provider']}"
        connection = Connection(profile_id=profile.id, base_url=base_url, is_sandbox=True, **account)
        session().add(connection)
        session().flush()
        connecting.queue_sync(session(), connection)
    for name, content in sorted(shop.files.items()):
        dataset, _, file_name = name.partition("/")
        uploads.queue(session(), profile.id, dataset, file_name, hashlib.sha256(content).hexdigest())
        uploads.put(io.BytesIO(content), settings.inbox / profile.id / dataset, file_name)
    return profile


def _is_seeded(session: Session, profile: Profile) -> bool:
    waiting = sa.exists().where(Import.profile_id == profile.id, Import.status.in_(uploads.UNFINISHED))
    if session.scalar(sa.select(waiting)):
        return False
    pulled_at = _pulled_at(session, profile)
    with snapshots(context.settings()).reader() as reader:
        if pulled_at is None or reader is None or profile_facts(reader, profile.id) is None:
            return False
        ((built_at,),) = reader.rows("select built_at from snapshot")
    return bool(pulled_at < built_at)


def _pulled_at(session: Session, profile: Profile) -> datetime | None:
    """When each of the profile's accounts had been pulled for the first time; None while one has not."""
    own = (Connection.profile_id == profile.id, Connection.status.in_(ASKED))
    done = (ConnectionSync.connection_id == Connection.id, ConnectionSync.status == "done")
    first = sa.select(sa.func.min(ConnectionSync.finished_at)).where(*done).scalar_subquery()
    # syncs are forgotten after a while, and the last one that went well is not
    moments = session.scalars(sa.select(sa.func.coalesce(first, Connection.synced_at)).where(*own)).all()
    pulled = [moment for moment in moments if moment is not None]
    return max(pulled, default=profile.created_at) if len(pulled) == len(moments) else None


def _record(profile: Profile, action: str, after: dict[str, Any]) -> None:
    by = actor()
    place = Actor(by.kind, by.id, profile.workspace_id, profile.id, by.request_id)
    target = {"kind": "profile", "id": profile.id, "label": profile.name}
    record(session(), place, Attempt(action, {"target": target, "after": after}))
