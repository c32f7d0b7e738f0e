"""What every answer leaves with: its headers, compression, and the conditional answer to a known ETag."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any, TypeVar

from flask import Response, g, request
from werkzeug.exceptions import HTTPException

from api import context

View = TypeVar("View", bound=Callable[..., Any])

COMPRESS_FROM = 1024
ENCODING = "Accept-Encoding"
COMPRESSIBLE = frozenset(
    {"application/json", "text/html", "text/css", "text/javascript", "application/javascript", "image/svg+xml"}
)
UNLESS_GIVEN = {
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class NotModified(HTTPException):
    """The caller already holds this answer; `conditional` raises it."""

    code = 304
    description = "Not modified"

    def get_response(self, environ: object = None, scope: object = None) -> Response:
        """Nothing but the status: a body would be made only to be left out."""
        return Response(status=304)


def conditional(
    tag: str,
    *,
    cache_control: str = "private, no-cache",
    vary: str | None = "Authorization",
    policy: str | None = None,
) -> None:
    """Give the answer the weak ETag `W/"<tag>"` and its caching rules, and end the request with 304 if it matches.

    Call it once the arguments are parsed and before any query. `tag` must change whenever the answer may. `policy` is
    the Content-Security-Policy of a page that has one of its own.
    """
    told = {"ETag": f'W/"{tag}"', "Cache-Control": cache_control, "Vary": vary, "Content-Security-Policy": policy}
    # a browser puts the headers of a 304 in place of those it kept, so the policy stands there too
    g.caching = {name: value for name, value in told.items() if value}
    known = request.if_none_match
    # * means any answer there is, and whether there is one is not known yet: `finish` sees
    if not known.star_tag and known.contains_weak(tag):
        raise NotModified()


def tagged(view: View) -> View:
    """Mark a view that calls `conditional`, for its description; stands directly above `response`."""
    view._apidoc = {**getattr(view, "_apidoc", {}), "tagged": True}  # type: ignore[attr-defined]
    return view


def finish(response: Response) -> Response:
    """Stamp the headers of every answer and compress it when asked to."""
    stamped = {"X-Request-Id": context.request_id()}
    if "allowance" in g:
        stamped |= g.allowance.headers
    if response.status_code in {200, 304}:
        stamped |= g.get("caching", {})
        if "ETag" in stamped and request.if_none_match.star_tag:
            response.status_code = 304
    headers = response.headers
    is_compressible = response.mimetype in COMPRESSIBLE and not response.direct_passthrough
    if is_compressible and "Vary" in stamped:
        stamped["Vary"] = _varied(stamped["Vary"])
    # to look for a name among headers takes longer than to write one, and most are on no answer yet
    there = {name.lower() for name in headers.keys()}  # noqa: SIM118 - headers are not a mapping
    for name, value in stamped.items():
        (headers.set if name.lower() in there else headers.add)(name, value)
    there.update(map(str.lower, stamped))
    for name, value in UNLESS_GIVEN.items():
        if name.lower() not in there:
            headers.add(name, value)
    if not is_compressible:
        return response
    if "Vary" not in stamped:
        headers.set("Vary", _varied(headers.get("Vary")))
    return _compressed(response)


def _varied(by: str | None) -> str:
    # werkzeug's set of them takes as long as all other headers
    return f"{by}, {ENCODING}" if by and ENCODING.lower() not in by.lower() else by or ENCODING


def packed(body: bytes) -> bytes:
    """The body by gzip, the same for the same body."""
    return gzip.compress(body, compresslevel=6, mtime=0)


def takes_packed() -> bool:
    """Whether the caller takes an answer by gzip."""
    return request.accept_encodings.quality("gzip") > 0


def _compressed(response: Response) -> Response:
    if takes_packed() and response.status_code != 304 and not response.headers.get("Content-Encoding"):
        body = response.get_data()
        if len(body) > COMPRESS_FROM:
            response.set_data(packed(body))
            response.headers["Content-Encoding"] = "gzip"
    return response
