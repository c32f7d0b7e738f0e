"""Agents register themselves (RFC 7591): a name and where to send the browser back to; no secret."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from authlib.oauth2.rfc6749 import JsonPayload, JsonRequest
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7591.errors import InvalidClientMetadataError, InvalidRedirectURIError
from flask import Request

from api import app_names, context, errors
from api.arguments import parse_body
from api.db import new_id, now
from api.models import OAuthClient
from api.oauth import redirects
from api.oauth.clients import NONE
from api.scopes import GRANTS
from api.writing import session

UNUSED = timedelta(days=30)
MOST_ADDRESSES = 10
TEXTS = (
    *("client_name", "client_uri", "logo_uri", "scope", "tos_uri", "policy_uri", "jwks_uri"),
    *("software_id", "software_version"),
)
LISTS = ("redirect_uris", "grant_types", "response_types", "contacts")
# what is neither kept nor shown is not said back as if it were
KEPT = ("client_name", "redirect_uris", "scope")


class Metadata(JsonPayload):  # type: ignore[misc]
    """The body of a registration."""

    def __init__(self, given: Request) -> None:
        self._given = given

    @property
    def data(self) -> dict[str, Any]:
        try:
            sent = parse_body(self._given)
        except errors.ApiError as refusal:
            raise InvalidClientMetadataError(_plain(refusal.message)) from None
        if not isinstance(sent, dict):
            raise InvalidClientMetadataError("The body must be a JSON object.")
        return sent


class Described(JsonRequest):  # type: ignore[misc]
    """A registration request."""

    def __init__(self, given: Request) -> None:
        super().__init__(given.method, context.settings().base_url + given.path, given.headers)
        self.payload = Metadata(given)


class Registration(ClientRegistrationEndpoint):  # type: ignore[misc]
    """Registration without a credential: what is registered can do nothing until a person consents."""

    def authenticate_token(self, request: Described) -> bool:
        """Anybody may."""
        return True

    def get_server_metadata(self) -> dict[str, Any]:
        """What a client may ask to use."""
        return {
            "scopes_supported": list(GRANTS),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
        }

    def extract_client_metadata(self, request: Described) -> dict[str, Any]:
        """What will be kept of the body, after Authlib has judged all of it."""
        sent = request.payload.data
        _refuse_odd_types(sent)
        _refuse_addresses(sent.get("redirect_uris"))
        name = sent.get("client_name", "").strip() or "An agent without a name"
        if not app_names.is_plain(name):
            raise InvalidClientMetadataError(f"client_name has more than {app_names.LONGEST} characters, or odd ones.")
        try:
            judged = super().extract_client_metadata(request)
        except (KeyError, TypeError, ValueError):
            # what Authlib and its library of keys raise for shapes they do not look for
            raise InvalidClientMetadataError("An address or a key set is malformed.") from None
        kept = {one: judged[one] for one in KEPT if judged.get(one)}
        return {
            **kept,
            "client_name": name,
            "token_endpoint_auth_method": NONE,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
        }

    def generate_client_info(self, request: Described) -> dict[str, Any]:
        """The id; there is no secret."""
        return {"client_id": new_id(), "client_id_issued_at": int(now().timestamp())}

    def save_client(self, client_info: dict[str, Any], client_metadata: dict[str, Any], request: Described) -> None:
        """Keep the agent, and forget those that nobody has used for a month."""
        last_seen = sa.func.coalesce(OAuthClient.last_used_at, OAuthClient.created_at)
        session().execute(sa.delete(OAuthClient).where(last_seen < now() - UNUSED))
        session().add(
            OAuthClient(
                client_id=client_info["client_id"],
                name=client_metadata["client_name"],
                redirect_uris=client_metadata["redirect_uris"],
                scopes=client_metadata.get("scope", "").split(),
            )
        )


def _refuse_odd_types(sent: dict[str, Any]) -> None:
    for name in TEXTS:
        if not isinstance(sent.get(name, ""), str):
            raise InvalidClientMetadataError(f"{name} must be a string.")
    for name in LISTS:
        value = sent.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InvalidClientMetadataError(f"{name} must be a list of strings.")


def _refuse_addresses(uris: list[str] | None) -> None:
    if not uris or len(uris) > MOST_ADDRESSES:
        raise InvalidRedirectURIError(f"1 to {MOST_ADDRESSES} redirect_uris are needed.")
    if not all(redirects.is_acceptable(one) for one in uris):
        raise InvalidRedirectURIError("Every redirect_uri must be https, or http on a loopback host.")


def _plain(text: str) -> str:
    # an error_description has neither quotes nor anything beyond ASCII
    return "".join(sign for sign in text if sign.isascii() and sign.isprintable() and sign not in '"\\')
