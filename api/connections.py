"""Asking a connected provider while somebody waits: which connections may be asked, and what a failure becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, errors
from api.models import Connection, ConnectionSync
from api.models.connection import ASKED, OWNERS_CALL, SUSPENDED
from api.webhooks.telling import LOST, connection_changed, reconnect_url
from connectors import apps
from connectors.errors import ConnectorError, Refused, Revoked, Throttled, Transient
from connectors.transport import Policy, Transport
from touchledger.settings import Settings

PATIENCE = Policy(
    attempts=3, longest_wait=5, first_backoff=0.2, longest_backoff=1,
    connect_timeout=3, read_timeout=8, whole_timeout=15, largest_body=16 * 2**20,
)  # fmt: skip


def of_profile(url: str, *, profile_id: str, kind: str) -> list[Connection]:
    """The profile's connections of a kind that are not disconnected, oldest first, in whatever state."""
    chosen = sa.select(Connection).where(
        Connection.profile_id == profile_id, Connection.kind == kind, Connection.status != "disconnected"
    )
    with db.transaction(url, durable=False) as session:
        return list(session.scalars(chosen.order_by(Connection.created_at, Connection.id)))


def usable(settings: Settings, found: Sequence[Connection]) -> list[Connection]:
    """Those that may be asked, and at least one of them unless there are none at all.

    409 connection_revoked when what there is waits to be connected anew, connection_not_ready when it is unfinished, or
    was ended: that one cannot be made anew.
    """
    ready = [one for one in found if one.status in ASKED and one.token]
    if ready or not found:
        return ready
    if lost := next((one for one in found if one.status == LOST), None):
        raise revoked(settings, lost)
    if all(one.status == "disconnected" for one in found):
        raise errors.CONNECTION_NOT_READY("This connection was ended; connect the account again.")
    raise errors.CONNECTION_NOT_READY()


@contextmanager
def asking(
    settings: Settings, connection: Connection, *, within: float, writes: bool = False, policy: Policy | None = None
) -> Iterator[Transport]:
    """A transport for the calls of one request, at most `within` seconds of them; its failures leave as ApiErrors.

    What a call tells of the connection is noted on it. Holds no transaction while the provider is waited for, and
    must be entered with none open. `writes` says that a permission that is missing is the one to write.
    """
    try:
        with Transport(policy or PATIENCE, within=within) as transport:
            yield transport
    except ConnectorError as failure:
        # a token that may only read still reads, and what one request got wrong says nothing of the connection
        withheld = failure.reason in OWNERS_CALL | SUSPENDED and not (writes and failure.reason == "permission_missing")
        if isinstance(failure, Revoked) or withheld:
            _note(settings, connection, failure)
        raise refusal(settings, connection, failure, writes=writes) from failure
    if connection.status != "active":
        _note(settings, connection, None)


def app_secret(settings: Settings, connection: Connection) -> str:
    """The secret of the app that a token of Meta's was given to; "" where none is configured."""
    return apps.at(settings, "meta", is_sandbox=connection.is_sandbox).client_secret


def end(session: Session, settings: Settings, connection: Connection) -> None:
    """Disconnect it for good: the token goes, the data stays, and what was queued of it is not pulled any more."""
    before = connection.status
    connection.status, connection.status_reason, connection.token = "disconnected", None, ""
    waiting = sa.update(ConnectionSync).where(
        ConnectionSync.connection_id == connection.id, ConnectionSync.status == "queued"
    )
    session.execute(waiting.values(status="failed", error="disconnected", finished_at=db.now()))
    connection_changed(session, connection, before, base_url=settings.base_url)


def refusal(
    settings: Settings, connection: Connection, failure: ConnectorError, *, writes: bool = False
) -> errors.ApiError:
    """What a caller is told of a provider's failure, in our words: a provider's own may hold anything."""
    if isinstance(failure, Revoked):
        return revoked(settings, connection)
    if isinstance(failure, Refused):
        return _refused(failure, writes=writes)
    if isinstance(failure, Throttled):
        wait = f" It asks to be left alone for {failure.wait:.0f} seconds." if failure.wait else ""
        return errors.PROVIDER_ERROR(f"The provider's own allowance is spent.{wait}", reason="throttled")
    if isinstance(failure, Transient):
        if failure.reason == "timeout":
            return errors.PROVIDER_ERROR("The provider did not answer in time.", reason="timeout")
        return errors.PROVIDER_ERROR("The provider failed or could not be reached.", reason="unavailable")
    # lists that cannot be walked, too: a cursor that dies, a page that no size makes small enough
    return errors.PROVIDER_ERROR("The provider answered something unreadable.", reason="bad_response")


def revoked(settings: Settings, connection: Connection) -> errors.ApiError:
    """409 connection_revoked with the address where the connection is made anew."""
    where = reconnect_url(settings.base_url, connection)
    return errors.CONNECTION_REVOKED(reconnect_required=True, reconnect_url=where)


def _refused(failure: Refused, *, writes: bool) -> errors.ApiError:
    if failure.reason == "permission_missing" and writes:
        return errors.PLATFORM_WRITE_PERMISSION_MISSING()
    if failure.reason == "budget_too_low":
        return errors.VALIDATION_ERROR("amount_minor is under the platform's own minimum.")
    if failure.reason == "budget_between_steps":
        return errors.VALIDATION_ERROR(
            "amount_minor is no amount there: the platform counts in larger steps of this currency."
        )
    if failure.reason in OWNERS_CALL:
        return errors.FORBIDDEN(
            "The provider does not let this connection do that.", reason="platform_permission_denied"
        )
    if failure.code is None:
        return errors.PROVIDER_ERROR("The provider refused the request.", reason="refused")
    # its own words may hold anything; its number is what its documentation and its support go by
    message = f"The provider refused the request, with its code {failure.code}."
    return errors.PROVIDER_ERROR(message, reason="refused", provider_code=failure.code)


def _note(settings: Settings, connection: Connection, failure: ConnectorError | None) -> None:
    with db.transaction(settings.operational_url) as session:
        row = session.get(Connection, connection.id, with_for_update={"key_share": True})
        # a token given meanwhile is not judged by what the old one was told
        if row is not None and row.token == connection.token:
            before = row.status
            row.heard(failure)
            connection_changed(session, row, before, base_url=settings.base_url)
