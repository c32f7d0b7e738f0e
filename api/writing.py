"""The unit of work of a write: one session, one commit, one answer per Idempotency-Key, and the audit of refusals."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

import orjson
import sqlalchemy as sa
from flask import Response, current_app, g, request
from sqlalchemy.orm import Session

from api import audit, auth, context, db, errors, idempotency
from api.arguments import parse_body
from api.guard import MEBIBYTE, View
from api.idempotency import Answer, Claim
from api.roles import Role

# a schema judges these before the key is looked at; where a view must, the key is left as free
OF_FORM = (
    errors.INVALID_PARAMETER,
    errors.INVALID_REQUEST,
    errors.VALIDATION_ERROR,
    errors.INVALID_CONTENT,
    errors.INVALID_DATE_RANGE,
    errors.PAYLOAD_TOO_LARGE,
)


def idempotent(
    *,
    once_shown: Sequence[str] = (),
    keyed: bool = True,
    replays_to_guests: bool = True,
    longest: timedelta = idempotency.ABANDONED,
) -> Callable[[View], View]:
    """Make a view a unit of work that honours Idempotency-Key; stands directly above `response`.

    Every POST, PUT, PATCH and DELETE needs it. `once_shown` names members of `data` that hold secrets: they are not
    stored, and a replay carries null in their place. Where nobody is known to keep a key for, and with `keyed=False`,
    a key must be well formed and is not kept: what is kept holds a quick hash of the body, which may be a password.
    With `replays_to_guests=False` no key of a guest is kept: what the view answers depends on the profiles that are
    open to them at this moment. `longest` is how long a view may take that waits for others; until then nobody takes
    its key over.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def once(*args: Any, **kwargs: Any) -> Response:
            key = idempotency.read_key(request.headers.get("Idempotency-Key"))
            is_kept = keyed and "principal" in g and (replays_to_guests or not _is_guest())
            claimed = _claim(key, longest) if key and is_kept else None
            if isinstance(claimed, Answer):
                return _replay(claimed)
            with _settled(claimed):
                return _run(lambda: view(*args, **kwargs), claimed, once_shown)

        once.idempotent = True  # type: ignore[attr-defined]
        once._apidoc = {**getattr(view, "_apidoc", {}), "keyed": keyed}  # type: ignore[attr-defined]
        return cast(View, once)

    return decorator


def unkeyed(view: View) -> View:
    """Mark a write whose sender sends no Idempotency-Key: what it delivers carries an id of its own, kept once."""
    view.idempotent = True  # type: ignore[attr-defined]
    return view


def session() -> Session:
    """The session of this write; it begins with its first statement and is committed when the view has returned."""
    return cast(Session, g.session)


def actor() -> audit.Actor:
    """The caller, as the audit trail names it."""
    principal = auth.current()
    reach = principal.reach
    workspace_id = reach.workspace.id if reach.workspace else reach.profile.workspace_id if reach.profile else None
    return audit.Actor(
        principal.kind,
        principal.user_id or principal.id,
        workspace_id,
        reach.profile.id if reach.profile else None,
        context.request_id(),
    )


def _run(view: Callable[[], Any], claimed: Claim | None, once_shown: Sequence[str]) -> Response:
    with db.unit(context.settings().operational_url) as unit:
        g.session = unit
        response = current_app.make_response(view())
        if claimed is not None:
            idempotency.finish(unit, claimed, _stored(response, once_shown))
    return response


@contextlib.contextmanager
def _settled(claimed: Claim | None) -> Iterator[None]:
    """Once the unit is rolled back: audit a refusal, and keep its row and its answer, or give the key back."""
    try:
        yield
    except errors.ApiError as refusal:
        if refusal.row is not None:
            with db.transaction(_url()) as unit:
                unit.add(refusal.row)
        if refusal.attempt is not None:
            audit.record_alone(_url(), actor(), refusal.attempt, outcome=refusal.code.code)
        if claimed is not None:
            _settle_refusal(refusal, claimed)
        raise
    except Exception:
        if claimed is not None:
            # the database may be what failed; the key is then free after a minute
            with contextlib.suppress(sa.exc.SQLAlchemyError), db.transaction(_url()) as unit:
                idempotency.release(unit, claimed)
        raise


def _settle_refusal(refusal: errors.ApiError, claimed: Claim) -> None:
    with db.transaction(_url()) as unit:
        if refusal.code.status == 429 or refusal.code.status >= 500 or refusal.code in OF_FORM:
            idempotency.release(unit, claimed)
        elif refusal.code is not errors.IDEMPOTENCY_KEY_IN_FLIGHT:
            body = cast(Response, current_app.handle_user_exception(refusal)).get_data(as_text=True)
            idempotency.finish(unit, claimed, Answer(refusal.code.status, body))


def _is_guest() -> bool:
    membership = auth.current().reach.membership
    return membership is not None and membership.role == Role.GUEST.word


def _claim(key: str, longest: timedelta) -> Claim | Answer:
    query = urlencode(sorted(request.args.items(multi=True)))
    print_ = idempotency.fingerprint(request.method, request.path, query, _canonical_body())
    with db.transaction(_url(), durable=False) as unit:
        return idempotency.claim(unit, account=auth.current().writer, key=key, print_=print_, abandoned=longest)


def _canonical_body() -> bytes:
    if request.mimetype == "multipart/form-data":
        return _canonical_form()
    if request.method == "DELETE" or not request.get_data(cache=True):
        return b""
    if request.mimetype != "application/json":
        return request.get_data(cache=True)
    return orjson.dumps(parse_body(request), option=orjson.OPT_SORT_KEYS)


def _canonical_form() -> bytes:
    """Texts and digests of files: the boundary between parts is another in every request."""
    parts = [*request.form.items(multi=True)]
    for name, file in request.files.items(multi=True):
        digest = hashlib.sha256()
        while block := file.stream.read(MEBIBYTE):
            digest.update(block)
        file.stream.seek(0)
        parts.append((name, digest.hexdigest()))
    return orjson.dumps(sorted(parts))


def _stored(response: Response, once_shown: Sequence[str]) -> Answer:
    text = response.get_data(as_text=True)
    if once_shown:
        body = orjson.loads(text)
        body["data"] = {name: None if name in once_shown else value for name, value in body["data"].items()}
        text = orjson.dumps(body).decode()
    return Answer(response.status_code, text)


def _replay(answer: Answer) -> Response:
    response = Response(answer.body, answer.status, mimetype="application/json")
    response.headers["Idempotent-Replayed"] = "true"
    return response


def _url() -> str:
    return context.settings().operational_url
