"""Agents register themselves, and the server says what it offers."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlalchemy as sa
from authlib.oauth2 import rfc8414, rfc9207
from flask.testing import FlaskClient

from api import db
from api.models import OAuthClient
from tests.api.oauth.walk import BACK
from tests.factories.deployments import application
from touchledger.settings import Settings


def test_the_metadata_is_what_the_rfcs_ask_for(settings: Settings) -> None:
    behind_tls = settings.model_copy(update={"public_url": "https://ledger.example"})
    client = application(behind_tls).test_client()
    found = client.get("/.well-known/oauth-authorization-server").get_json()
    rfc8414.AuthorizationServerMetadata(found).validate(metadata_classes=[rfc9207.AuthorizationServerMetadata])
    assert found["issuer"] == "https://ledger.example"
    assert found["code_challenge_methods_supported"] == ["S256"]
    assert found["scopes_supported"] == ["mcp:read", "mcp:read_pii", "mcp:write"]
    assert found["token_endpoint_auth_methods_supported"][0] == "none"
    endpoints = [url.removeprefix("https://ledger.example") for name, url in found.items() if "endpoint" in name[-8:]]
    rules = {rule.rule for rule in client.application.url_map.iter_rules()}
    assert set(endpoints) <= rules
    resource = client.get("/.well-known/oauth-protected-resource").get_json()
    assert resource["authorization_servers"] == [found["issuer"]]
    assert resource["resource"] == found["issuer"]


def test_a_refused_agent_is_led_to_where_it_registers(settings: Settings) -> None:
    client = application(settings.model_copy(update={"public_url": "https://ledger.example"})).test_client()
    refused = client.get("/api/v1/campaigns", headers={"Authorization": "Bearer expired"})
    told = re.fullmatch(
        r'Bearer resource_metadata="https://ledger.example([^"]+)"', refused.headers["WWW-Authenticate"]
    )
    assert told
    server = client.get(told.group(1)).get_json()["authorization_servers"][0]
    assert client.get(f"{server}/.well-known/oauth-authorization-server").get_json()["registration_endpoint"]


def test_a_registered_agent_is_a_public_client(client: FlaskClient, settings: Settings) -> None:
    sent = {"client_name": "  My agent ", "redirect_uris": [BACK, "https://agent.example/back"], "scope": "mcp:read"}
    response = client.post(
        "/oauth/register", json={**sent, "token_endpoint_auth_method": "client_secret_post", "contacts": ["x"]}
    )
    assert response.status_code == 201
    assert response.headers["Cache-Control"] == "no-store"
    body = response.get_json()
    assert body["client_name"] == "My agent"
    assert body["redirect_uris"] == sent["redirect_uris"]
    assert body["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in body
    assert "contacts" not in body
    with db.transaction(settings.operational_url) as session:
        kept = session.scalars(sa.select(OAuthClient)).one()
    assert (kept.client_id, kept.scopes) == (body["client_id"], ["mcp:read"])


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://agent.example/",
        "myapp://callback",
        "http://agent.example/callback",
        "http://127.0.0.1.evil.example/",
        "http://127.0.0.1@evil.example/",
        "http://0.0.0.0/",
        "http://192.168.0.1/",
        "https://user:password@agent.example/",
        "https://agent.example/#fragment",
        "https://agent.example/#",
        "https://agent.example\\@evil.example/",
        "https://agent.example:port/",
        "https://",
        "//agent.example/",
        "https://agent.example/ space",
        "https://agent.example/\r\nLocation: x",
        "https://agent.éxample/",
        "https://agent.example/" + "x" * 2000,
        "",
    ],
)
def test_an_address_that_is_neither_https_nor_loopback_is_refused(client: FlaskClient, uri: str) -> None:
    response = client.post("/oauth/register", json={"redirect_uris": [BACK, uri]})
    assert response.status_code == 400
    assert response.get_json()["error"] == "invalid_redirect_uri"


@pytest.mark.parametrize("uri", ["http://localhost/", "http://[::1]:8080/x?y=1", "HTTPS://Agent.example/Callback"])
def test_loopback_and_https_are_accepted(client: FlaskClient, uri: str) -> None:
    assert client.post("/oauth/register", json={"redirect_uris": [uri]}).status_code == 201


@pytest.mark.parametrize("count", [0, 11])
def test_an_agent_names_one_to_ten_addresses(client: FlaskClient, count: int) -> None:
    response = client.post("/oauth/register", json={"redirect_uris": [f"https://a.example/{n}" for n in range(count)]})
    assert (response.status_code, response.get_json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uris": "https://agent.example/"},
        {"redirect_uris": [1]},
        {"redirect_uris": None},
        {"client_name": 3},
        {"client_name": "x" * 81},
        {"client_name": "name\u202ereversed"},
        {"grant_types": ["client_credentials"]},
        {"grant_types": "authorization_code"},
        {"response_types": ["token"]},
        {"scope": "workspaces:write"},
        {"scope": ["mcp:read"]},
        {"client_uri": "not an address"},
        {"client_uri": "https://["},
        {"jwks_uri": 5},
        {"jwks_uri": ["https://agent.example/keys"]},
        {"jwks": None},
        {"jwks": 5},
        {"jwks": []},
        {"jwks": {}},
        {"jwks": "odd"},
        {"jwks": {"keys": "odd"}},
        {"jwks": {"keys": [{"kty": []}]}},
    ],
)
def test_metadata_of_another_kind_is_refused(client: FlaskClient, changed: dict[str, Any]) -> None:
    response = client.post("/oauth/register", json={"redirect_uris": [BACK], **changed})
    assert response.status_code == 400, response.text
    assert response.get_json()["error"] == "invalid_client_metadata"


@pytest.mark.parametrize("body", [b"", b"[]", b"[1]", b"null", b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"\xff"])
def test_a_body_that_is_no_object_is_refused_in_the_words_of_the_rfc(client: FlaskClient, body: bytes) -> None:
    response = client.post("/oauth/register", data=body, content_type="application/json")
    assert response.status_code == 400
    assert response.get_json()["error"] == "invalid_client_metadata"
    assert client.post("/oauth/register", data={"redirect_uris": BACK}).status_code == 400


def test_twenty_registrations_an_hour_are_enough(client: FlaskClient) -> None:
    answers = [client.post("/oauth/register", json={"redirect_uris": [BACK]}) for _ in range(21)]
    assert [one.status_code for one in answers] == [201] * 20 + [429]
    assert int(answers[-1].headers["Retry-After"]) > 3000
    assert answers[-1].get_json()["error"] == "temporarily_unavailable"


def test_the_bodies_of_errors_are_oauths_own(client: FlaskClient) -> None:
    unknown = client.post("/oauth/token", data={"grant_type": "password", "client_id": "x"})
    assert unknown.get_json()["error"] == "unsupported_grant_type"
    nobody = client.post("/oauth/token", data={"grant_type": "authorization_code", "client_id": "x", "code": "y"})
    assert (nobody.status_code, nobody.get_json()["error"]) == (400, "invalid_client")
    twice = client.post("/oauth/token", data={"grant_type": "authorization_code", "code": ["a", "b"], "client_id": "x"})
    assert twice.get_json()["error"] == "invalid_request"


@pytest.mark.parametrize("body", [{"data": {"code": "y"}}, {"json": {"grant_type": "authorization_code", "code": "y"}}])
def test_a_request_without_a_grant_type_is_told_what_it_lacks(client: FlaskClient, body: dict[str, Any]) -> None:
    response = client.post("/oauth/token", **body)
    told = response.get_json()
    assert (response.status_code, told["error"]) == (400, "invalid_request")
    assert "'grant_type' in the form" in told["error_description"]
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("proof", ["Basic /w==", "Basic é"])
def test_a_proof_that_is_no_text_is_no_proof(client: FlaskClient, proof: str) -> None:
    sent = {"grant_type": "authorization_code", "code": "y"}
    response = client.post("/oauth/token", data=sent, headers={"Authorization": proof})
    assert (response.status_code, response.get_json()["error"]) == (401, "invalid_client")
    assert response.headers["WWW-Authenticate"].startswith("Basic")


def test_without_tls_on_a_public_address_nothing_is_given(settings: Settings) -> None:
    client = application(settings.model_copy(update={"public_url": "http://ledger.example"})).test_client()
    given = client.post("/oauth/token", data={"grant_type": "authorization_code"})
    assert (given.status_code, given.get_json()["error"]) == (400, "insecure_transport")
    assert "insecure_transport" in client.get("/oauth/authorize").text
