"""What one request carries with it: its id, the deployment's settings, and the meta of its answer."""

from __future__ import annotations

from typing import Any, cast

import uuid_utils
from flask import current_app, g

from touchledger.settings import Settings


def settings() -> Settings:
    """The settings the application was created with."""
    return cast(Settings, current_app.config["SETTINGS"])


def challenge(*, scope: str | None = None) -> str:
    """The WWW-Authenticate of a 401: a bearer, and the document that says who gives agents one (RFC 9728, 5.1).

    With the `scope` to ask for instead, that of a 403 (RFC 6750, 3.1).
    """
    wanted = f'error="insufficient_scope", scope="{scope}", ' if scope else ""
    return f'Bearer {wanted}resource_metadata="{settings().base_url}/.well-known/oauth-protected-resource"'


def request_id() -> str:
    """`req_` and 32 hexadecimal digits; the same for every call within one request."""
    found = g.get("request_id")
    if found is None:
        found = g.request_id = f"req_{uuid_utils.uuid4().hex}"
    return cast(str, found)


def meta(**items: Any) -> None:
    """Add members to the `meta` of the answer: `meta(model="linear", snapshot_id=None)`. Null members are kept."""
    answer_meta().update(items)


def answer_meta() -> dict[str, Any]:
    """The `meta` collected so far."""
    if "meta" not in g:
        g.meta = {}
    return cast(dict[str, Any], g.meta)


def paginate(*, cursor: str | None, has_next: bool) -> None:
    """Give the answer its sibling `pagination {cursor, has_next}`."""
    g.pagination = {"cursor": cursor, "has_next": has_next}
