"""Tokens in links that say who follows them: signed, dated, and telling nobody who that is."""

from __future__ import annotations

import time

from itsdangerous import BadData, URLSafeSerializer

from api.customer_keys import FORM
from touchledger.settings import Settings

VERSION = "1"
QUERY_PARAMETER = "tl_id"
_SALT = "touchledger.link-token.v1"


def serializer(settings: Settings) -> URLSafeSerializer | None:
    """What signs the tokens of a deployment; None where no secret is set."""
    secret = settings.link_token_secret
    return URLSafeSerializer(secret.get_secret_value(), salt=_SALT) if secret else None


def mint(signer: URLSafeSerializer, *, profile_id: str, customer_key: str, expires: int) -> str:
    """A token for one customer key; `expires` in epoch seconds."""
    text = signer.dumps([profile_id, customer_key, expires])
    return f"{VERSION}.{text.decode() if isinstance(text, bytes) else text}"


def opened(signer: URLSafeSerializer, token: str, *, profile_id: str, at: float | None = None) -> str | None:
    """The customer key of a token; None for a forged, altered, expired, foreign or unknown kind of token."""
    version, _, text = token.partition(".")
    try:
        content = signer.loads(text) if version == VERSION else None
    except BadData:
        return None
    if not isinstance(content, list) or len(content) != 3:
        return None
    of_profile, key, expires = content
    is_live = (time.time() if at is None else at) < expires
    return key if of_profile == profile_id and is_live and FORM.fullmatch(key) else None
