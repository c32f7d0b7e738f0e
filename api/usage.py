"""What keys and user tokens are used for: exact counts per credential, UTC day and place.

A request is counted in the transaction that admits it. How it ends is known there too, unless it is refused or fails
later: only then is there a second, short one.
"""

from __future__ import annotations

from typing import Any, cast

import sqlalchemy as sa
import structlog
from flask import Response, g, request
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api import asked, context, db, errors
from api.auth import Kind, Principal
from api.db import now
from api.models import CredentialUse
from api.prepared import Prepared

COUNTS = ("requests", "units", "refused_4xx", "failed_5xx", "rate_limited")
COUNTED = frozenset({Kind.API_KEY, Kind.USER_TOKEN})

log = structlog.get_logger("api.usage")


# built once: putting a statement together costs more than running it
TABLE = cast(sa.Table, CredentialUse.__table__)


def _adding(kind: Any) -> Prepared:
    insert = kind.insert(TABLE)
    more = {name: TABLE.c[name] + insert.excluded[name] for name in COUNTS}
    added = insert.on_conflict_do_update(index_elements=list(TABLE.primary_key.columns), set_=more)
    return Prepared(added, columns=TABLE.c.keys())


ADD = {kind.dialect.name: _adding(kind) for kind in (sqlite, postgresql)}


def admit(session: Session, principal: Principal, *, units: int, refusal: errors.ApiError | None) -> None:
    """Count one request and what it cost, and how it ended if it was refused already."""
    if principal.kind not in COUNTED:
        return
    g.counted_as = {
        "place_id": _place(principal),
        "day": now().date(),
        "kind": principal.kind.value,
        "credential_id": principal.id,
    }
    ended = _ending(refusal.code.status) if refusal else {}
    _add(session, {"requests": 1, "units": units, **ended})
    g.end_is_counted = refusal is not None


def settle(response: Response) -> Response:
    """After each request: count how it ended, if that was not known when it was admitted."""
    ended = _ending(response.status_code)
    if not ended or "counted_as" not in g or g.end_is_counted:
        return response
    try:
        with db.admission(context.settings().operational_url) as session:
            _add(session, ended)
    except sa.exc.SQLAlchemyError as error:
        # the answer is about something else; it leaves as it is
        log.error("usage_not_counted", request_id=context.request_id(), problem=type(error).__name__)
    return response


def _ending(status: int) -> dict[str, int]:
    """What a status adds to; a 429 counts as rate_limited alone."""
    if status < 400:
        return {}
    return {"rate_limited" if status == 429 else "refused_4xx" if status < 500 else "failed_5xx": 1}


def _add(session: Session, counts: dict[str, int]) -> None:
    connection = db.connection_of(session)
    ADD[connection.dialect.name].rows(connection, **{**dict.fromkeys(COUNTS, 0), **counts, **g.counted_as})


def _place(principal: Principal) -> str:
    reach = principal.reach
    found = principal.own_profile or reach.profile or reach.workspace
    return found.id if found else _named()


def _named() -> str:
    """The place a request names, where nobody looked yet whether the caller reaches it; reports ask that themselves."""
    for name in ("profile_id", "workspace_id"):
        value = (request.view_args or {}).get(name) or request.args.get(name, "")
        try:
            return asked.as_uuid(name, value)
        except errors.ApiError:
            continue
    return ""
