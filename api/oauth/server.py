"""Authlib's authorization server over our tables: what it asks for, it finds in the session of the request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import (
    BaseGrant,
    InvalidClientError,
    InvalidGrantError,
    InvalidRequestError,
    OAuth2Error,
    OAuth2Payload,
    OAuth2Request,
)
from authlib.oauth2.rfc6749.util import extract_basic_authorization
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Request, Response, g, request
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from api import context, credentials, db
from api.models import OAuthAuthorization, OAuthCode, Profile, Workspace
from api.oauth import clients, families
from api.oauth.clients import Client, Consumer
from api.oauth.grants import WITH_PEOPLE, CodeGrant, RefreshGrant, healthcare_refusal
from api.oauth.proof import S256
from api.oauth.registration import Described, Registration
from api.oauth.resources import Resource, require_ours
from api.oauth.revocation import Revocation
from api.reach import administers, is_healthcare
from api.writing import session

ONCE = ("grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier", "refresh_token", "scope")


@contextmanager
def unit() -> Iterator[Session]:
    """The unit of work of an OAuth request: `api.writing.session()` is its session, committed at the end."""
    with db.unit(context.settings().operational_url) as opened:
        g.session = opened
        yield opened


class Sent(OAuth2Payload):  # type: ignore[misc]
    """The parameters of a request: of an authorization those of its address, of everything else those of its body."""

    def __init__(self, values: MultiDict[str, str]) -> None:
        self.values = values

    @property
    def data(self) -> MultiDict[str, str]:
        return self.values

    @property
    def datalist(self) -> dict[str, list[str]]:
        return dict(self.values.lists())

    @property
    def response_type(self) -> str | None:
        # Authlib puts it into a message, and fails where that is not plain ASCII
        named = self.values.get("response_type")
        return named if named is None or (named.replace("_", "").isalnum() and named.isascii()) else "unknown"


class Asked(OAuth2Request):  # type: ignore[misc]
    """One request, under the public address: a proxy in front of us speaks plain HTTP with us."""

    def __init__(self, given: Request) -> None:
        super().__init__(given.method, context.settings().base_url + given.path, headers=given.headers)
        self._given = given
        self.payload = Sent(given.args if given.path == "/oauth/authorize" else given.form)

    @property
    def form(self) -> MultiDict[str, str]:
        return self._given.form


class Issuer(IssuerParameter):  # type: ignore[misc]
    """Who answers, as a parameter of every answer that goes through the browser."""

    def get_issuer(self) -> str:
        return context.settings().base_url


class Server(AuthorizationServer):  # type: ignore[misc]
    """The one server of every deployment; it keeps nothing of its own between requests."""

    def __init__(self) -> None:
        super().__init__()
        self.issuer = Issuer()
        self.register_extension(self.issuer)
        self.register_token_generator("default", BearerTokenGenerator(_access, _refresh, _seconds))
        self.register_grant(CodeGrant, [S256(required=True), Resource()])
        self.register_grant(RefreshGrant)
        self.register_endpoint(Registration)
        self.register_endpoint(Revocation)

    def create_oauth2_request(self, _request: object) -> Asked:
        return Asked(request)

    def create_json_request(self, _request: object) -> Described:
        return Described(request)

    def query_client(self, client_id: str) -> Client | None:
        return clients.find(session(), client_id)

    def get_token_grant(self, asked: Asked) -> BaseGrant:
        """What the form wants to exchange; Authlib calls none at all, such as in JSON, a kind that nobody supports."""
        if not asked.payload.data.get("grant_type"):
            raise InvalidRequestError("Missing 'grant_type' in the form of the request.")
        require_ours(asked.payload.datalist.get("resource", []))
        return super().get_token_grant(asked)

    def authenticate_client(self, asked: Asked, methods: list[str], endpoint: str = "token") -> Client:
        """The client that proved itself in one way; a parameter that came twice proves nothing."""
        if any(len(asked.payload.datalist.get(name, [])) > 1 for name in ONCE):
            raise InvalidRequestError("A parameter is given more than once.")
        try:
            _refuse_two_proofs(asked)
            return super().authenticate_client(asked, methods, endpoint)  # type: ignore[no-any-return]
        except ValueError:
            raise InvalidClientError(status_code=401) from None

    def save_token(self, token: dict[str, Any], asked: Asked) -> None:
        """Keep what is being issued, and tell an app which profile it got."""
        source = asked.refresh_token or asked.authorization_code
        under = session().get_one(OAuthAuthorization, source.authorization_id)
        client = asked.client
        if isinstance(client, Consumer):
            token |= _give_key(under, client, asked.authorization_code, token["access_token"])
            return
        if asked.authorization_code is not None:
            families.supersede(session(), under)
        access, refresh, grants = token["access_token"], token["refresh_token"], token["scope"].split()
        families.give_tokens(session(), under=under, access=access, refresh=refresh, grants=grants)
        client.row.last_used_at = db.now()

    def refused(self, error: OAuth2Error) -> Response:
        """The answer to an authorization request that Authlib refused before there was anything to decide."""
        response: Response = self.handle_error_response(None, error)
        self.issuer.add_issuer_parameter(self, response)
        return response


def _refuse_two_proofs(asked: Asked) -> None:
    basic, _ = extract_basic_authorization(asked.headers)
    posted = asked.payload.data
    if basic and (posted.get("client_secret") or posted.get("client_id", basic) != basic):
        raise InvalidRequestError("The client is named or authenticated in more than one way.")


def _give_key(under: OAuthAuthorization, client: Consumer, code: OAuthCode, secret: str) -> dict[str, str]:
    profile = session().get_one(Profile, under.profile_id)
    workspace = session().get_one(Workspace, profile.workspace_id)
    if profile.archived_at is not None or workspace.archived_at is not None:
        raise InvalidGrantError("The profile is archived.")
    if not administers(session(), under.user_id, workspace.id):
        raise InvalidGrantError("Whoever consented no longer administers the workspace.")
    # it may have become one since the person consented
    if WITH_PEOPLE in under.scopes and is_healthcare(workspace, profile):
        raise healthcare_refusal()
    families.supersede(session(), under)
    key = families.give_key(session(), under=under, app=client.row, profile_id=profile.id, secret=secret)
    code.api_key_id = key.id
    return {"profile_id": profile.id, "workspace_id": profile.workspace_id}


def _access(*, client: Client, **_: Any) -> str:
    return credentials.mint(client.access_prefix)


def _refresh(**_: Any) -> str:
    return credentials.mint("tl_refr")


def _seconds(client: Client, _grant_type: str) -> int:
    return client.expires_in


server = Server()
