"""PKCE as we ask for it: S256 and nothing else, and never without it where a client has no secret."""

from __future__ import annotations

from typing import Any

from authlib.oauth2.rfc6749 import InvalidRequestError
from authlib.oauth2.rfc7636 import CodeChallenge


class S256(CodeChallenge):  # type: ignore[misc]
    """Authlib's PKCE without the method `plain`, which Authlib would also assume where none is named."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        """Refuse an authorization request that an agent makes without a challenge, or anybody with a plain one."""
        sent = grant.request.payload.data
        if grant.client.kind == "agent" and not sent.get("code_challenge"):
            raise InvalidRequestError("A code_challenge is required.")
        if sent.get("code_challenge") and sent.get("code_challenge_method") != "S256":
            raise InvalidRequestError("The code_challenge_method must be S256.")
        super().validate_code_challenge(grant, redirect_uri)
