"""A sender of events, and a look at what it left in the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api.db import transaction
from api.models import IngestedRecord, Profile
from api.scopes import Scope
from tests.api.conftest import Caller, anonymous, caller, caller_with, client, profile, secret
from touchledger.settings import Settings

__all__ = ["anonymous", "caller", "caller_with", "client", "profile", "secret"]

PAYMENT: dict[str, Any] = {
    "event_name": "purchase",
    "timestamp": "2026-03-05T14:02:11Z",
    "idempotency_key": "order-1-paid",
    "user_traits": {"email": "Ann@Example.com"},
    "properties": {"value": 120.5, "currency": "USD", "payment_ref": "stripe:pi_1"},
}


class Sender:
    """One key with events:write."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def send(self, **options: Any) -> Any:
        return self.caller.post("/events", **options)

    def accepted(self, body: dict[str, Any], **headers: str) -> dict[str, Any]:
        """The data of an answer that must be 202."""
        response = self.send(json=body, headers=headers)
        assert response.status_code == 202, response.get_data(as_text=True)
        data: dict[str, Any] = response.get_json()["data"]
        return data

    def refused(self, body: Any, **headers: str) -> tuple[int, str, str]:
        """Status, code and message of a refusal."""
        response = self.send(data=json.dumps(body), content_type="application/json", headers=headers)
        error = response.get_json()["error"]
        return response.status_code, error["code"], error["message"]

    def retract(self, key: str) -> Any:
        return self.caller("DELETE", f"/events/{key}")


@pytest.fixture
def sender(caller_with: Callable[..., Caller]) -> Sender:
    return Sender(caller_with(scopes=[Scope.EVENTS_WRITE]))


@pytest.fixture
def stranger(client: FlaskClient, settings: Settings) -> Sender:
    """A key of another profile."""
    from tests.factories import accounts

    url = settings.operational_url
    key = accounts.secret(url, accounts.profile(url, name="Other"), scopes=[Scope.EVENTS_WRITE])
    return Sender(Caller(client, key))


@pytest.fixture
def landing(settings: Settings, profile: Profile) -> Callable[..., list[dict[str, Any]]]:
    """The profile's records that wait for the pipeline, oldest first."""

    def read(dataset: str = "conversions") -> list[dict[str, Any]]:
        with transaction(settings.operational_url) as session:
            chosen = sa.select(IngestedRecord.record).where(
                IngestedRecord.profile_id == profile.id, IngestedRecord.dataset == dataset
            )
            return list(session.scalars(chosen.order_by(IngestedRecord.id)))

    return read
