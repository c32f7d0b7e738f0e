"""Where a client means to carry its token (RFC 8707): ours open this deployment and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

from authlib.oauth2.rfc6749 import OAuth2Error

from api import context


class InvalidTargetError(OAuth2Error):  # type: ignore[misc]
    """`invalid_target` of RFC 8707, section 2."""

    error = "invalid_target"
    description = "Tokens of this server are for it alone, and not for the resource that was named."


class Resource:
    """Refuses an authorization request of a client that means to carry its token somewhere else."""

    def __call__(self, grant: Any) -> None:
        """Look at each authorization request of this kind of grant."""
        grant.register_hook("after_validate_authorization_request_payload", self._look)

    def _look(self, grant: Any, redirect_uri: str) -> None:
        require_ours(grant.request.payload.datalist.get("resource", []), redirect_uri)


def require_ours(named: Sequence[str], redirect_uri: str | None = None) -> None:
    """InvalidTargetError where a `resource` is no address of this deployment or below it; naming none is fine."""
    if not all(_is_ours(one) for one in named):
        raise InvalidTargetError(redirect_uri=redirect_uri)


def _is_ours(named: str) -> bool:
    own = urlsplit(context.settings().base_url)
    try:
        given = urlsplit(named)
        same = _origin(given) == _origin(own)
    except ValueError:
        return False
    return same and not given.fragment and f"{given.path}/".startswith(f"{own.path}/")


def _origin(parts: SplitResult) -> tuple[str, str | None, str | None, int | None]:
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, parts.username, parts.hostname, parts.port or default
