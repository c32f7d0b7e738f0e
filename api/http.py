"""The one file that bends Flask and flask-smorest to the interface.

A route is written so, in this order (the order is part of the contract):

    bp = Blueprint("campaigns", __name__, description="Campaign performance.")

    @bp.route("/things")
    @guarded(scope=Scope.CAMPAIGNS_READ, units=1)
    @bp.arguments(DateRange, location="query")
    @bp.arguments(CampaignQuery, location="query")
    @responses.tagged
    @bp.response(200, CampaignRow(many=True))
    def things(window, query):
        '''First line is the summary in OpenAPI.'''
        profile = auth.current().profile
        context.meta(date_from=window.date_from, date_to=window.date_to, model=query["model"])
        responses.conditional(etag)
        return rows

What the view returns becomes `data`; `meta` holds `profile_id` and what `context.meta` adds; `context.paginate` adds
the sibling `pagination`. A query schema may carry `error_code = errors.INVALID_DATE_RANGE`. Query names that no schema
of the view declares, and names sent twice, never reach it. A write puts `@idempotent()` (`api/writing.py`) directly
above `response`: after validation, before its effect. A route without `guarded` (or `public`), or a write without
`idempotent`, fails at import.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import flask_smorest  # type: ignore[import-untyped]
import marshmallow as ma
import orjson
import sqlalchemy as sa
import structlog
from flask import Flask, Response, g, request
from flask.json.provider import JSONProvider
from werkzeug.exceptions import HTTPException
from werkzeug.routing import PathConverter

from api import context, envelopes, errors, openapi, patience, read_only, responses
from api.arguments import ArgumentsParser
from api.bodies import may_be_left_out
from api.error_body import ErrorEnvelope
from api.guard import WRITES, View, guard_of
from api.incoming import Incoming
from api.pages import refusals
from api.reading import timestamp

log = structlog.get_logger("api")

# one spelling for every instant of every answer, whichever schema tells it
ma.fields.DateTime.SERIALIZATION_FUNCS = {**ma.fields.DateTime.SERIALIZATION_FUNCS, "iso": timestamp}

RETRY_DATABASE = {"Retry-After": "2"}
# until somebody made room, or mounted the disk anew
RETRY_DISK = {"Retry-After": "60"}
FULL = "No room is left to keep this."
# a kernel makes a file system read-only that it finds damaged
DISK = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: "The disk takes no writes for now."}


class Json(JSONProvider):
    """Answers are written by orjson: strict UTF-8, and a value it does not know is an error, never a guess."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return orjson.loads(s)


class Key(PathConverter):
    """A caller's own key in a path, `<path:…>`: any text, with slashes and line breaks wherever it has them."""

    regex = r"[\s\S]+?"
    part_isolating = False


class Application(Flask):
    """Flask, except that OPTIONS answers 204 and no path is ever redirected to another spelling."""

    json_provider_class = Json
    request_class = Incoming

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url_map.converters["path"] = Key

    def make_default_options_response(self) -> Response:
        response = super().make_default_options_response()
        response.status_code = 204
        return response

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """No view is a coroutine, and whether one is was asked ten times in each request."""
        return func


class Api(flask_smorest.Api):  # type: ignore[misc]
    """flask-smorest's registry, with our error envelope in place of its own."""

    ERROR_SCHEMA = ErrorEnvelope

    def __init__(self, app: Flask) -> None:
        self.undescribed: list[Callable[[], None]] = []
        super().__init__(app)

    def document(self, *, server: str) -> tuple[bytes, bytes, str]:
        """The OpenAPI document as bytes, the same packed by gzip, and the hash of its content for the ETag.

        Can be made once.

        The views are described only here: for all of them it takes two thirds of making an application.
        """
        for describe in self.undescribed:
            describe()
        described = openapi.build(self.spec, server=server)
        body = orjson.dumps(described, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS)
        return body, responses.packed(body), hashlib.sha256(body).hexdigest()[:16]

    def _register_pagination_header(self) -> None:
        """No answer has it: pages are told in the body."""

    def _register_error_handlers(self) -> None:
        self._app.register_error_handler(errors.ApiError, answer_error)
        self._app.register_error_handler(HTTPException, _answer_http)
        self._app.register_error_handler(sa.exc.OperationalError, _answer_database)
        self._app.register_error_handler(sa.exc.DatabaseError, _answer_damaged)
        self._app.register_error_handler(sa.exc.InternalError, _answer_refused)
        self._app.register_error_handler(sa.exc.NotSupportedError, _answer_refused)
        self._app.register_error_handler(sa.exc.TimeoutError, _answer_database)
        self._app.register_error_handler(OSError, _answer_system)
        self._app.register_error_handler(Exception, _answer_unforeseen)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """A blueprint whose views are guarded and whose answers are `{data, meta}`."""

    ARGUMENTS_PARSER = ArgumentsParser()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._prepare_doc_cbks.append(openapi.describe_guard)

    def route(self, rule: str, **options: Any) -> Callable[[View], View]:
        """Register a guarded view under its whole path."""
        return cast(Callable[[View], View], super().route(rule, **options))

    def add_url_rule(
        self, rule: str, endpoint: str | None = None, view_func: Any = None, *args: Any, **options: Any
    ) -> None:
        if guard_of(view_func) is None:
            raise TypeError(f"the view of {rule} is neither guarded nor public")
        if WRITES & set(options.get("methods", ())) and not getattr(view_func, "idempotent", False):
            raise TypeError(f"the view of {rule} writes and is not idempotent")
        super().add_url_rule(rule, endpoint, view_func, *args, **options)

    def register_views_in_doc(self, api: Api, *args: Any, **options: Any) -> None:
        """Leave the description of the views to who asks for the document."""
        api.undescribed.append(partial(super().register_views_in_doc, api, *args, **options))

    @staticmethod
    def doc(**described: Any) -> Callable[[View], View]:
        """Add hand-written members to an operation's description."""
        return cast(Callable[[View], View], flask_smorest.Blueprint.doc(**described))

    def arguments(self, schema: Any, *, location: str = "json", **options: Any) -> Callable[[View], View]:
        """Parse one location (`query`, `path`, `json`) with a schema and pass the result to the view."""
        options.setdefault("error_status_code", 422 if location == "json" else 400)
        if location == "json" and may_be_left_out(schema):
            options.setdefault("required", False)
        return cast(Callable[[View], View], super().arguments(schema, location=location, **options))

    def response(self, status_code: int, schema: Any = None, **options: Any) -> Callable[[View], View]:
        """Dump what the view returns with a schema, into the envelope."""
        return cast(Callable[[View], View], super().response(status_code, schema, **options))

    def alt_response(self, status_code: int, **options: Any) -> Callable[[View], View]:
        """Describe another status a view answers with; it returns `(data, status)` for it."""
        return cast(Callable[[View], View], super().alt_response(status_code, **options))

    @staticmethod
    def _make_doc_response_schema(schema: ma.Schema | None) -> Any:
        return envelopes.envelope_of(schema)

    @staticmethod
    def _prepare_response_content(data: Any) -> dict[str, Any]:
        pagination = {"pagination": g.pagination} if "pagination" in g else {}
        return {"data": data, "meta": context.answer_meta(), **pagination}


def written(data: Any) -> Response:
    """The answer 200 of a view that builds every member as its schema would write it; the schema then only describes.

    Walking a large page through a schema takes longer than finding its figures.
    """
    return Response(orjson.dumps(Blueprint._prepare_response_content(data)), mimetype="application/json")


def answer_error(error: errors.ApiError, status: int | None = None) -> Response:
    """The error envelope, or a page where a person asks for one.

    `status` differs from the catalogue's only for 405 and for what is no request of HTTP.
    """
    code = error.code
    if refusals.is_for_a_person():
        return refusals.page(error, status or code.status)
    body = {
        "code": code.code,
        "message": error.message,
        "status": status or code.status,
        "request_id": context.request_id(),
        "docs_url": f"{context.settings().base_url}/docs/errors#{code.code}",
        **({"reason": error.reason} if error.reason else {}),
        **error.fields,
    }
    response = Response(orjson.dumps({"error": body}), status or code.status, mimetype="application/json")
    response.headers.update(error.headers)
    return response


def _answer_http(error: HTTPException) -> Response:
    status = error.code or 500
    if status < 400:
        return cast(Response, error.get_response())
    if status == 405:
        refusal = errors.INVALID_REQUEST("This path has no such method.", reason="method_not_allowed")
        response = answer_error(refusal, 405)
        response.headers["Allow"] = ", ".join(sorted(getattr(error, "valid_methods", None) or []))
        return response
    known = {404: errors.NOT_FOUND, 413: errors.PAYLOAD_TOO_LARGE}
    return answer_error(known.get(status, errors.INVALID_REQUEST if status < 500 else errors.INTERNAL_ERROR)())


def _answer_database(error: Exception) -> Response:
    log.error("database_unavailable", request_id=context.request_id(), problem=type(error).__name__, told=_told(error))
    return answer_error(errors.DATABASE_UNAVAILABLE(headers=RETRY_DATABASE))


def _told(error: Exception) -> str:
    """What the server or the driver says of it; the lines below may repeat rows."""
    return str(getattr(error, "orig", None) or error).partition("\n")[0]


def _answer_refused(error: sa.exc.DBAPIError) -> Response:
    is_over_soon = read_only.is_refusal(error) or patience.is_passing(error)
    return _answer_database(error) if is_over_soon else _answer_unforeseen(error)


def _answer_damaged(error: sa.exc.DBAPIError) -> Response:
    # of a file that is damaged SQLite says it by this class itself; its others tell of what was asked
    return _answer_database(error) if type(error) is sa.exc.DatabaseError else _answer_unforeseen(error)


def _answer_system(error: OSError) -> Response:
    told = DISK.get(error.errno or 0)
    if told is None:
        return _answer_unforeseen(error)
    log.error("disk_refuses", request_id=context.request_id(), path=request.path, told=error.strerror)
    return answer_error(errors.SERVICE_UNAVAILABLE(told, headers=RETRY_DISK))


def _answer_unforeseen(error: Exception) -> Response:
    log.exception("internal_error", request_id=context.request_id(), path=request.path, exc_info=error)
    return answer_error(errors.INTERNAL_ERROR())
