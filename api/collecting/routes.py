"""POST /api/tracking/collect and /api/tracking/identity-signal: what pages tell, from any origin."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from flask import Response, request

from api import context, credentials, db, errors
from api.arguments import parse_json
from api.collecting import automated, described
from api.collecting.event import Told, identifier, moment, page, text, told
from api.collecting.keeping import Delivery, Signal, keep
from api.collecting.links import linked_identifier
from api.collecting.page import host_of
from api.collecting.together import together
from api.guard import public_up_to
from api.http import Blueprint
from api.writing import unkeyed
from touchledger.settings import Settings

bp = Blueprint("collecting", __name__, description="What trackers send.")

MOST_BYTES = 60 * 1024
ROOT = "/api/tracking/"
_TYPES = frozenset({"application/json", "text/plain"})
_TABLET = re.compile(r"ipad|tablet|android(?!.*mobile)", re.IGNORECASE)
_MOBILE = re.compile(r"mobi|iphone|ipod", re.IGNORECASE)

Body = Mapping[str, Any]


@bp.route("/api/tracking/collect", methods=["POST"])
@public_up_to(MOST_BYTES)
@unkeyed
@bp.doc(**described.COLLECT)
def collect() -> Response:
    """Take one event of a page

    Kept once by its eventId for ever, and answered once it is kept. A visit-opening event becomes a touch, an event
    that a goal names a conversion that is never cash; who is identified is joined.
    """
    return _taken(told)


@bp.route("/api/tracking/identity-signal", methods=["POST"])
@public_up_to(MOST_BYTES)
@unkeyed
@bp.doc(**described.SIGNAL)
def identity_signal() -> Response:
    """Take an e-mail address or phone number that somebody typed

    It joins the browser to its person and does nothing else. Where the profile does not capture what people type, it
    is answered the same and not kept.
    """
    return _taken(_signal)


def open_to_pages(response: Response) -> Response:
    """After each request: pages of any origin may read the collector's answers, and may ask beforehand."""
    if request.path.startswith(ROOT):
        response.headers["Access-Control-Allow-Origin"] = "*"
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = "POST, OPTIONS"
            # any: scripts that measure a page's requests put headers of their own into all that it sends
            response.headers["Access-Control-Allow-Headers"] = "Content-Type, X-Tracking-Key, *"
            response.headers["Access-Control-Max-Age"] = "86400"
    return response


def _taken(read: Callable[[Body, datetime], Any]) -> Response:
    delivery = _delivery(read_body(), read)
    refusal = together(context.settings().operational_url, keep)(delivery)
    if refusal is not None:
        raise refusal
    return Response(b"{}", 202, mimetype="application/json")


def read_body() -> Body:
    """The body of a page's request, JSON told as such or as plain text; 400 and 413 for anything else."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise errors.INVALID_REQUEST("Compressed request bodies are not accepted.", reason="content_encoding")
    if request.mimetype not in _TYPES:
        raise errors.INVALID_REQUEST(
            "The body must be JSON, told as such or as plain text.", reason="wrong_content_type"
        )
    # a page writes a number of 20 digits as any other
    body = parse_json(request.get_data(cache=False), parse_int=int)
    if not isinstance(body, dict):
        raise errors.INVALID_REQUEST("The body is not an object.", reason="malformed_json")
    # what the browser itself says in a header counts as if the page had said it
    return {**body, "gpc": True} if request.headers.get("Sec-GPC") == "1" else body


def _delivery(body: Body, read: Callable[[Body, datetime], Any]) -> Delivery:
    key = request.headers.get("X-Tracking-Key") or body.get("trackingKey")
    if not isinstance(key, str) or not credentials.is_well_formed(key, "trk_live"):
        raise errors.UNAUTHORIZED()
    agent, received_at = request.headers.get("User-Agent", ""), db.now()
    try:
        content, site = read(body, received_at), page(body).host
    except errors.ApiError as refusal:
        content, site = refusal, None
    return Delivery(
        key=key,
        address=_place(request.remote_addr),
        hosts=(site, host_of(request.headers.get("Origin", ""))),
        is_automated=automated.is_automated(agent, request.headers.get("Sec-CH-UA", "")),
        device=_device(agent),
        received_at=received_at,
        told=content,
        linked=linked_identifier(context.settings(), key, content.page.token) if isinstance(content, Told) else None,
    )


def _signal(body: Body, received_at: datetime) -> Signal:
    anonymous_id, kind = text(body, "anonymousId", 128), text(body, "idType", 16)
    if kind not in ("email", "phone"):
        raise errors.VALIDATION_ERROR("idType: must be email or phone.")
    kind, value = identifier(kind, text(body, "idValue", 254), "idValue")
    return Signal(anonymous_id, kind, value, moment(body, "capturedAt", received_at), body.get("gpc") is True)


def _place(address: str | None) -> str:
    """A name for an IPv4 address, or for the /64 that one IPv6 subscriber has, that tells nobody which it is."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return "unknown"
    network = str(parsed) if parsed.version == 4 else str(ipaddress.ip_network(f"{parsed}/64", strict=False))
    return hmac.new(_secret(context.settings()), f"address\0{network}".encode(), hashlib.sha256).hexdigest()


@cache
def _secret(settings: Settings) -> bytes:
    # a file otherwise read with each event
    return settings.signing_key()


def _device(agent: str) -> str | None:
    if not agent:
        return None
    if _TABLET.search(agent):
        return "tablet"
    return "mobile" if _MOBILE.search(agent) else "desktop"
