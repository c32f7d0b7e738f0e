"""Secrets of subscriptions, and what they sign: Standard Webhooks."""

from __future__ import annotations

import base64
import secrets
from datetime import UTC, datetime

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from standardwebhooks import Webhook

from api.models import WebhookSubscription
from touchledger.settings import Settings

PREFIX = "whsec_"
_BYTES = 32


def new_secret() -> str:
    """A secret as it is shown once: `whsec_` and 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def sealed(settings: Settings, secret: str) -> str:
    """The secret as it is stored."""
    return _cipher(settings).encrypt(secret.encode()).decode()


def headers(
    settings: Settings, subscription: WebhookSubscription, *, event_id: str, at: datetime, body: bytes
) -> dict[str, str]:
    """The headers that let a receiver check a delivery sent at `at`; the previous secret signs too while it lives.

    Raises InvalidToken when the deployment's key is another one than when the secret was stored.
    """
    kept = [subscription.secret]
    if subscription.previous_secret and at < (subscription.previous_secret_expires_at or at):
        kept.append(subscription.previous_secret)
    # the library takes any moment for one of UTC
    moment = at.astimezone(UTC).replace(microsecond=0)
    opened = [_cipher(settings).decrypt(one.encode()).decode() for one in kept]
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": " ".join(Webhook(one).sign(event_id, moment, body.decode()) for one in opened),
    }


def _cipher(settings: Settings) -> Fernet:
    derived = HKDF(hashes.SHA256(), 32, salt=None, info=b"touchledger webhooks").derive(settings.signing_key())
    return Fernet(base64.urlsafe_b64encode(derived))
