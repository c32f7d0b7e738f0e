"""Signatures of deliveries, checked with the library of the standard."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import time_machine
from cryptography.fernet import InvalidToken
from pydantic import SecretStr
from standardwebhooks import Webhook, WebhookVerificationError

from api.models import WebhookSubscription
from api.webhooks import signing
from touchledger.settings import REPOSITORY, Settings

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
BODY = '{"name":"añ"}'.encode()


def test_a_secret_is_stored_sealed_and_is_32_random_bytes(settings: Settings) -> None:
    secret = signing.new_secret()
    assert secret.startswith("whsec_") and secret != signing.new_secret()
    assert secret.removeprefix("whsec_") not in signing.sealed(settings, secret)


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=-7))])
def test_both_secrets_sign_while_the_old_one_lives_in_whatever_zone_the_moment_is_told(
    settings: Settings, zone: timezone
) -> None:
    old, new = signing.new_secret(), signing.new_secret()
    one = WebhookSubscription(secret=signing.sealed(settings, new), previous_secret=signing.sealed(settings, old))
    one.previous_secret_expires_at = AT + timedelta(seconds=1)
    with time_machine.travel(AT, tick=False):
        given = signing.headers(settings, one, event_id="e", at=AT.astimezone(zone), body=BODY)
        assert [Webhook(secret).verify(BODY, given) for secret in (old, new)] == [{"name": "añ"}] * 2
        assert (given["webhook-timestamp"], given["webhook-id"]) == (str(int(AT.timestamp())), "e")
        after = signing.headers(settings, one, event_id="e", at=AT + timedelta(seconds=1), body=BODY)
        Webhook(new).verify(BODY, after)
        with pytest.raises(WebhookVerificationError):
            Webhook(old).verify(BODY, after)


def test_the_printed_check_takes_what_is_signed_and_nothing_else(settings: Settings) -> None:
    (printed,) = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs" / "webhooks.md").read_text(), re.S)
    known: dict[str, Any] = {}
    exec(printed, known)
    old, new = signing.new_secret(), signing.new_secret()
    one = WebhookSubscription(secret=signing.sealed(settings, new), previous_secret=signing.sealed(settings, old))
    one.previous_secret_expires_at = AT + timedelta(days=1)
    given = signing.headers(settings, one, event_id="e", at=AT, body=BODY)
    with time_machine.travel(AT + timedelta(seconds=300), tick=False):
        assert [known["is_ours"](secret, given, BODY) for secret in (old, new)] == [True, True]
        assert not known["is_ours"](new, given, BODY + b" ")
        assert not known["is_ours"](signing.new_secret(), given, BODY)
    with time_machine.travel(AT + timedelta(seconds=301), tick=False):
        assert not known["is_ours"](new, given, BODY)


def test_a_secret_of_another_deployment_signs_nothing(settings: Settings) -> None:
    one = WebhookSubscription(secret=signing.sealed(settings, signing.new_secret()))
    other = settings.model_copy(update={"secret_key": SecretStr("another")})
    with pytest.raises(InvalidToken):
        signing.headers(other, one, event_id="e", at=AT, body=BODY)
