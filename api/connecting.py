"""Connecting an account: the hand-off to a provider's page, what comes back from it, and the account that is chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import connections, db, errors
from api.models import Connection, ConnectionSync, Handoff, Profile, Workspace
from api.models.connection import HOLDING
from api.providers import SPOKEN, client
from api.webhooks.telling import connection_changed
from connectors.grants import Client, Grant
from touchledger.settings import Settings

LIFETIME = timedelta(hours=1)
# kinds that a run pulls
PULLED = ("ad_platform", "store", "payments")


def begin(
    session: Session,
    settings: Settings,
    *,
    provider: str,
    profile: Profile,
    return_url: str | None,
    renewed: Connection | None,
) -> Handoff:
    """A new hand-off for a new connection of the profile, or for one that is made anew; an open one for it ends.

    404 not_found when the profile was archived since the caller was let in.
    """
    # not so much that a sync would wait, which is queued by whoever settles the hand-off that ends below
    if session.get_one(Profile, profile.id, with_for_update={"key_share": True}).archived_at is not None:
        raise errors.NOT_FOUND()
    asked = client(settings, provider)
    _end_open(session, settings, profile, asked, renewed)
    connection = renewed or _pending(session, asked, profile, provider)
    number = db.new_id()
    made = Handoff(
        id=number,
        kind="connect",
        workspace_id=profile.workspace_id,
        profile_id=profile.id,
        connection_id=connection.id,
        return_url=return_url,
        url=f"{settings.base_url}/handoffs/{number}/begin",
        expires_at=db.now() + LIFETIME,
    )
    session.add(made)
    session.flush()
    return made


def keep(session: Session, settings: Settings, profile: Profile, *, provider: str, asked: Client, grant: Grant) -> str:
    """Connect the one account that a token of its owner opens, or give its connection that token; gives its id.

    404 not_found for an archived profile, 409 account_connected_elsewhere where another of the workspace holds it.
    """
    # two that connect one account at once do it one after the other
    session.get_one(Workspace, profile.workspace_id, with_for_update={"key_share": True})
    if session.get_one(Profile, profile.id, with_for_update={"key_share": True}).archived_at is not None:
        raise errors.NOT_FOUND()
    (account,) = grant.accounts
    if held := _held(session, profile.id, asked.provider, account.external_account_id):
        _renew(session, settings, held, grant.token, grant.scopes, account.reached_through)
        return held.id
    pending = _pending(session, asked, profile, provider)
    if elsewhere(session, pending, [account.external_account_id]):
        raise errors.ACCOUNT_CONNECTED_ELSEWHERE()
    pending.token, pending.scopes_granted = grant.token, list(grant.scopes)
    return take(session, settings, pending, [account.document()])[0].id


def fail(session: Session, settings: Settings, handoff_id: str, reason: str) -> None:
    """End the hand-off without a connection; one that was only begun for it ends too."""
    handoff = session.get_one(Handoff, handoff_id, with_for_update=True)
    if handoff.status != "pending":
        return
    handoff.status, handoff.reason, handoff.ended_at = "failed", reason, db.now()
    connection = session.get_one(Connection, handoff.connection_id, with_for_update={"key_share": True})
    if connection.status == "pending":
        connections.end(session, settings, connection)


def end_hand_offs(session: Session, connection_id: str, *, profile_id: str) -> None:
    """End what is open of the profile for a connection that is about to end, which nobody could complete any more."""
    open_ = sa.select(Handoff).where(
        Handoff.connection_id == connection_id, Handoff.profile_id == profile_id, Handoff.status == "pending"
    )
    for handoff in _held_open(session, open_):
        handoff.status, handoff.ended_at = "canceled", db.now()


def end_abandoned(session: Session, settings: Settings, at: datetime) -> None:
    """End the connections that were begun and whose hand-off nobody came back from in time."""
    begun = sa.select(Handoff).join(Connection, Connection.id == Handoff.connection_id)
    over = (Handoff.status == "pending", Handoff.expires_at <= at, Connection.status == "pending")
    for handoff in _held_open(session, begun.where(*over)):
        _end_begun(session, settings, handoff)


def settle(session: Session, settings: Settings, handoff_id: str, grant: Grant) -> None:
    """Keep what a person let us in to: the only account at once, of several those that somebody will choose."""
    handoff = session.get_one(Handoff, handoff_id)
    # two that connect one account at once do it one after the other
    session.get_one(Workspace, handoff.workspace_id, with_for_update={"key_share": True})
    session.refresh(handoff, with_for_update=True)
    connection = session.get_one(Connection, handoff.connection_id, with_for_update={"key_share": True})
    kept, refusal = _outcome(session, settings, connection, grant) if handoff.status == "pending" else (None, "over")
    if kept is None:
        fail(session, settings, handoff_id, refusal)
        return
    handoff.status, handoff.ended_at, handoff.connection_id = "completed", db.now(), kept.id
    handoff.result = {"connection_id": kept.id, "accounts_found": len(grant.accounts)}


def _outcome(
    session: Session, settings: Settings, connection: Connection, grant: Grant
) -> tuple[Connection | None, str]:
    """The connection that the grant is kept in, or None and the reason why not."""
    usable = [one for one in grant.accounts if one.reason is None]
    if connection.status in HOLDING:
        # made anew: only for the account that it is of
        if connection.external_account_id not in {one.external_account_id for one in usable}:
            return None, "provider_denied"
        again = next(one for one in usable if one.external_account_id == connection.external_account_id)
        _renew(session, settings, connection, grant.token, grant.scopes, again.reached_through)
        return connection, ""
    if connection.status != "pending" or not usable:
        return None, "provider_denied"
    if len(grant.accounts) == 1 and elsewhere(session, connection, [usable[0].external_account_id]):
        return None, "account_connected_elsewhere"
    connection.token, connection.scopes_granted = grant.token, list(grant.scopes)
    if len(grant.accounts) == 1:
        return take(session, settings, connection, [usable[0].document()])[0], ""
    connection.status, connection.candidates = "pending_selection", [one.document() for one in grant.accounts]
    connection_changed(session, connection, "pending", base_url=settings.base_url)
    return connection, ""


def elsewhere(session: Session, connection: Connection, account_ids: Collection[str]) -> set[str]:
    """Those accounts of the provider that other profiles of the workspace hold."""
    home = sa.select(Profile.workspace_id).where(Profile.id == connection.profile_id).scalar_subquery()
    held = sa.select(Connection.external_account_id).join(Profile, Profile.id == Connection.profile_id)
    return set(
        session.scalars(
            held.where(
                Profile.workspace_id == home,
                Profile.id != connection.profile_id,
                Connection.provider == connection.provider,
                Connection.status.in_(HOLDING),
                Connection.external_account_id.in_(account_ids),
            )
        )
    )


def take(
    session: Session, settings: Settings, pending: Connection, accounts: Sequence[Mapping[str, Any]]
) -> list[Connection]:
    """Make connections of the chosen accounts, the first of them out of the pending one, and queue their first sync.

    An account that the profile holds already keeps its connection, which gets the new token.
    """
    token, scopes, taken = pending.token, list(pending.scopes_granted), []
    free: Connection | None = pending
    for account in accounts:
        held = _held(session, pending.profile_id, pending.provider, account["external_account_id"])
        if held is not None:
            _renew(session, settings, held, token, scopes, account.get("reached_through"))
            taken.append(held)
            continue
        row, free = free or _beside(session, pending), None
        before, row.status = row.status, "active"
        row.token, row.scopes_granted, row.candidates = token, scopes, []
        row.external_account_id, row.display_name = account["external_account_id"], account["name"][:120]
        row.currency, row.timezone = account["currency"], account["timezone"]
        row.reached_through = account.get("reached_through")
        session.flush()
        queue_sync(session, row)
        connection_changed(session, row, before, base_url=settings.base_url)
        taken.append(row)
    if free is not None:
        free.candidates = []
        connections.end(session, settings, free)
    return taken


def queue_sync(session: Session, connection: Connection, *, anew: bool = False) -> ConnectionSync | None:
    """Let the next run pull the connection; the sync that is open already if there is one, None where none pulls.

    With `anew` one that runs is none: what it pulls was settled when it began.
    """
    if connection.kind not in PULLED:
        return None
    serving = ("queued",) if anew else ("queued", "running")
    open_ = sa.select(ConnectionSync).where(
        ConnectionSync.connection_id == connection.id, ConnectionSync.status.in_(serving)
    )
    found = session.scalars(open_.order_by(ConnectionSync.id.desc())).first()
    made = found or ConnectionSync(connection_id=connection.id, profile_id=connection.profile_id)
    session.add(made)
    session.flush()
    return made


def _renew(
    session: Session,
    settings: Settings,
    row: Connection,
    token: str,
    scopes: Sequence[str],
    reached_through: str | None,
) -> None:
    before, row.reached_through = row.status, reached_through
    row.token, row.scopes_granted, row.status, row.status_reason = token, list(scopes), "active", None
    session.flush()
    queue_sync(session, row)
    connection_changed(session, row, before, base_url=settings.base_url)


def _held(session: Session, profile_id: str, provider: str, account_id: str) -> Connection | None:
    held = sa.select(Connection).where(
        Connection.profile_id == profile_id,
        Connection.provider == provider,
        Connection.external_account_id == account_id,
        Connection.status.in_(HOLDING),
    )
    return session.scalars(held.with_for_update(key_share=True)).one_or_none()


def _pending(session: Session, asked: Client, profile: Profile, provider: str) -> Connection:
    made = Connection(
        id=db.new_id(),
        profile_id=profile.id,
        provider=asked.provider,
        kind=SPOKEN[provider].kind,
        display_name=provider,
        external_account_id="",
        status="pending",
        base_url=asked.base_url,
        token="",
        is_sandbox=asked.is_sandbox,
    )
    session.add(made)
    session.flush()
    return made


def _beside(session: Session, first: Connection) -> Connection:
    copied = ("profile_id", "provider", "kind", "display_name", "base_url", "is_sandbox")
    made = Connection(id=db.new_id(), status="pending_selection", token="", external_account_id="")
    for name in copied:
        setattr(made, name, getattr(first, name))
    session.add(made)
    return made


def _end_open(
    session: Session, settings: Settings, profile: Profile, asked: Client, renewed: Connection | None
) -> None:
    aim = Connection.id == renewed.id if renewed else Connection.status == "pending"
    open_ = sa.select(Handoff).join(Connection, Connection.id == Handoff.connection_id)
    mine = (Handoff.profile_id == profile.id, Handoff.kind == "connect", Handoff.status == "pending")
    for handoff in _held_open(session, open_.where(*mine, Connection.provider == asked.provider, aim)):
        handoff.status, handoff.ended_at = "canceled", db.now()
        if renewed is None:
            _end_begun(session, settings, handoff)


def _held_open(session: Session, chosen: sa.Select[Handoff]) -> Sequence[Handoff]:
    # whoever settles one holds it: it is then over, and what came of it stays
    held = chosen.order_by(Handoff.id).with_for_update(of=Handoff)
    return session.scalars(held.execution_options(populate_existing=True)).all()


def _end_begun(session: Session, settings: Settings, handoff: Handoff) -> None:
    connection = session.get_one(
        Connection, handoff.connection_id, with_for_update={"key_share": True}, populate_existing=True
    )
    if connection.status == "pending":
        connections.end(session, settings, connection)
