"""What programs ask of the authorization server: its description, registration, tokens, revocation.

Bodies are those of the RFCs, not the envelope of /api/v1.
"""

from __future__ import annotations

from typing import Any

import orjson
from authlib.oauth2.rfc6749 import OAuth2Error
from flask import Blueprint, Response, request

from api import context, errors, sign_in
from api.guard import public
from api.oauth.clients import METHODS, NONE
from api.oauth.server import server, unit
from api.scopes import GRANTS
from api.sign_in import MINUTE, Tries

REGISTRATIONS = Tries("register-agent", "registration_attempts", 60 * MINUTE, None, 20)

bp = Blueprint("oauth", __name__)


@bp.get("/.well-known/oauth-authorization-server")
@public
def server_metadata() -> Response:
    """What the authorization server offers (RFC 8414)."""
    issuer = context.settings().base_url
    return _json(
        {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/oauth/authorize",
            "token_endpoint": f"{issuer}/oauth/token",
            "registration_endpoint": f"{issuer}/oauth/register",
            "revocation_endpoint": f"{issuer}/oauth/revoke",
            "scopes_supported": list(GRANTS),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": [NONE, *(one for one in METHODS if one != NONE)],
            "revocation_endpoint_auth_methods_supported": [NONE, *(one for one in METHODS if one != NONE)],
            "authorization_response_iss_parameter_supported": True,
            "service_documentation": f"{issuer}/docs/agents",
        }
    )


@bp.get("/.well-known/oauth-protected-resource")
@public
def resource_metadata() -> Response:
    """Who authorizes callers of this API (RFC 9728)."""
    issuer = context.settings().base_url
    return _json(
        {
            "resource": issuer,
            "authorization_servers": [issuer],
            "scopes_supported": list(GRANTS),
            "bearer_methods_supported": ["header"],
            "resource_name": "Touchledger",
            "resource_documentation": f"{issuer}/docs/agents",
        }
    )


@bp.route("/oauth/register", methods=["POST"])
@public
def register() -> Response:
    """Register an agent (RFC 7591)."""
    try:
        sign_in.spend_try(context.settings().operational_url, REGISTRATIONS, caller=request.remote_addr)
    except errors.ApiError as refusal:
        words = "Too many registrations from this address."
        response = _json({"error": "temporarily_unavailable", "error_description": words}, 429)
        response.headers.update(refusal.headers)
        return response
    with unit():
        return _answered(server.create_endpoint_response("client_registration"))


@bp.route("/oauth/token", methods=["POST"])
@public
def token() -> Response:
    """Exchange a code or a refresh token."""
    with unit():
        return _answered(server.create_token_response())


@bp.route("/oauth/revoke", methods=["POST"])
@public
def revoke() -> Response:
    """End a token, and what was issued with it (RFC 7009); the answer never says whether there was one."""
    with unit():
        server.create_endpoint_response("revocation")
    return Response("", 200, mimetype="application/json")


@bp.errorhandler(OAuth2Error)
def refused(error: OAuth2Error) -> Response:
    """What Authlib refuses before it has read anything, such as a public address without TLS."""
    return _answered(server.handle_error_response(None, error))


def _answered(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    return response


def _json(value: dict[str, Any], status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, mimetype="application/json")
