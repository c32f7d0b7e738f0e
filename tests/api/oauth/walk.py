"""An agent or an app that walks the protocol, and the browser of the person it asks."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

BACK = "http://127.0.0.1:49152/callback"
SCOPE = "mcp:read mcp:write"


def query_of(response: TestResponse) -> dict[str, str]:
    """The parameters that a redirection carries."""
    return {name: values[0] for name, values in parse_qs(urlsplit(response.location).query).items()}


def sign_in(browser: FlaskClient, session: str) -> None:
    """Give the browser the session of a person."""
    browser.set_cookie("touchledger_session", session)


def form_token(page: TestResponse) -> str:
    """What the form of a page must bring back."""
    found = re.search(r'name="form_token" value="([^"]+)"', page.text)
    assert found, page.text
    return found.group(1)


@dataclass
class Walker:
    """One client of the authorization server."""

    browser: FlaskClient
    client_id: str = ""
    redirect_uri: str = BACK
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    auth: dict[str, str] = field(default_factory=dict)

    def register(self, **more: Any) -> TestResponse:
        """Register as an agent."""
        body = {"client_name": "Ada's agent", "redirect_uris": [self.redirect_uri], **more}
        response = self.browser.post("/oauth/register", json=body)
        self.client_id = response.get_json().get("client_id", "")
        return response

    def asking(self, **changed: Any) -> dict[str, Any]:
        """The parameters of an authorization request; None takes one away."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": SCOPE,
            "state": "st/1 &",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **changed,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def ask(self, **changed: Any) -> TestResponse:
        """Send the person to the consent page."""
        return self.browser.get("/oauth/authorize", query_string=self.asking(**changed))

    def decide(self, decision: str = "allow", *, asked: dict[str, Any] | None = None, **given: Any) -> TestResponse:
        """Open the consent page and press a button."""
        asked = asked or {}
        page = self.ask(**asked)
        assert page.status_code == 200, (page.status_code, page.text)
        scopes = self.asking(**asked).get("scope", "mcp:read").split()
        form = {"form_token": form_token(page), "decision": decision, "scope": scopes, **given}
        return self.browser.post("/oauth/authorize", query_string=self.asking(**asked), data=form)

    def code(self, **given: Any) -> str:
        """A fresh code."""
        return query_of(self.decide(**given))["code"]

    def exchange(self, code: str, **changed: Any) -> TestResponse:
        """Exchange a code."""
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            **changed,
        }
        return self.post("/oauth/token", sent)

    def refresh(self, token: str, **changed: Any) -> TestResponse:
        """Exchange a refresh token."""
        sent = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id, **changed}
        return self.post("/oauth/token", sent)

    def revoke(self, token: str, **changed: Any) -> TestResponse:
        """Give a token back."""
        return self.post("/oauth/revoke", {"token": token, "client_id": self.client_id, **changed})

    def post(self, path: str, sent: dict[str, Any]) -> TestResponse:
        """Post a form, without the names whose value is None."""
        form = {name: value for name, value in sent.items() if value is not None}
        return self.browser.post(path, data=form, headers=self.auth)

    def campaigns(self, token: str, profile_id: str) -> int:
        """The status of a read with a token."""
        query = {"profile_id": profile_id, "date_from": "2026-03-01", "date_to": "2026-03-02"}
        bearer = {"Authorization": f"Bearer {token}"}
        return self.browser.get("/api/v1/campaigns", query_string=query, headers=bearer).status_code
