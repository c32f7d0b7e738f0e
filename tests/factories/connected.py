"""Profiles that are connected to the sandbox's ad accounts, and what they do there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from werkzeug.test import TestResponse

from api import db
from api.ad_entities import entity_id
from api.models import AuditEntry, Connection, Profile
from api.scopes import Scope
from connectors.ad_platform import Level
from sandbox import shop
from sandbox.ad_catalogue import ACCOUNTS
from sandbox.faces import TOKENS
from tests.factories import served
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings

POST_LOST = {"method": "POST", "route": r"/\d+$"}
SCOPES = (Scope.CAMPAIGNS_READ, Scope.CAMPAIGNS_APPLY, Scope.ANALYTICS_READ)


def to_meta(url: str, profile: Profile, sandbox_url: str, *, account: int = 0, **more: Any) -> Connection:
    """A connection to one of the sandbox's ad accounts; `more` are its columns."""
    columns = {
        "profile_id": profile.id,
        "provider": "meta",
        "kind": "ad_platform",
        "display_name": ACCOUNTS[account].name,
        "external_account_id": ACCOUNTS[account].id,
        "base_url": f"{sandbox_url}/meta",
        "token": TOKENS["meta"],
        "currency": ACCOUNTS[account].currency,
        "is_sandbox": True,
    }
    with db.transaction(url) as session:
        made = Connection(**{**columns, **more})
        session.add(made)
    return made


def reload(url: str, connection: Connection) -> Connection:
    """The connection as it is stored now."""
    with db.transaction(url) as session:
        return session.get_one(Connection, connection.id)


def to_store(url: str, profile: Profile, sandbox_url: str, **more: Any) -> Connection:
    """A connection to the sandbox's shop; `more` are its columns."""
    columns = {
        "profile_id": profile.id,
        "provider": "shopify",
        "kind": "store",
        "display_name": shop.NAME,
        "external_account_id": "alder-finch.myshopify.com",
        "base_url": f"{sandbox_url}/shopify",
        "token": TOKENS["shopify"],
        "currency": shop.CURRENCY,
        "is_sandbox": True,
    }
    with db.transaction(url) as session:
        made = Connection(**{**columns, **more})
        session.add(made)
    return made


def to_payments(url: str, profile: Profile, sandbox_url: str, **more: Any) -> Connection:
    """A connection to the sandbox's payment processor; `more` are its columns."""
    columns = {
        "profile_id": profile.id,
        "provider": "stripe",
        "kind": "payments",
        "display_name": shop.NAME,
        "external_account_id": "acct_alderfinch",
        "base_url": f"{sandbox_url}/stripe",
        "token": TOKENS["stripe"],
        "currency": shop.CURRENCY,
        "is_sandbox": True,
    }
    with db.transaction(url) as session:
        made = Connection(**{**columns, **more})
        session.add(made)
    return made


@dataclass(frozen=True)
class Advertiser:
    """A profile whose ad account is one of the sandbox's. `ask` sends requests with its key."""

    settings: Settings
    profile: Profile
    sandbox: RunningSandbox
    connection: Connection
    ask: Callable[..., TestResponse]

    def one(self, level: Level, status: str = "ACTIVE") -> str:
        """The platform's id of the first object of a level and status in the account."""
        rows: Any = {"campaign": "campaigns", "ad_set": "ad_sets", "ad": "ads"}[level]
        own = [row for row in getattr(self.sandbox.world, rows) if row.account_id == ACCOUNTS[0].id]
        return str(next(row.id for row in own if row.status == status))

    def post(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> TestResponse:
        return self.ask("POST", path, headers=headers, json=body or {})

    def trail(self) -> list[AuditEntry]:
        """What the audit trail holds of campaigns, oldest first."""
        with db.transaction(self.settings.operational_url) as session:
            chosen = sa.select(AuditEntry).where(AuditEntry.category == "campaigns")
            return list(session.scalars(chosen.order_by(AuditEntry.at, AuditEntry.id)))

    def publish(self, **changes: Any) -> None:
        """Serve figures that know the account's campaigns; `changes` are columns of every entity."""
        facts = {"profile_key": 1, "profile_id": self.profile.id, "currency": "USD", "time_zone": "UTC"}
        own = [row for row in self.sandbox.world.campaigns if row.account_id == ACCOUNTS[0].id]
        entities = [
            {
                "profile_key": 1,
                "level": "campaign",
                "entity_key": number,
                "entity_id": entity_id(self.profile.id, "meta", "campaign", row.id),
                "platform": "meta",
                "platform_id": row.id,
                "name": row.name,
                "status": row.status,
                **changes,
            }
            for number, row in enumerate(own)
        ]
        served.publish(self.settings.published, {"profiles": [facts], "entities": entities})


def data(response: TestResponse) -> dict[str, Any]:
    """What a request that succeeded was answered."""
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.get_json()["data"]
    return found


def refusal(response: TestResponse) -> tuple[int, str, str | None]:
    """Status, code and reason of a request that was refused."""
    error = response.get_json()["error"]
    return response.status_code, error["code"], error.get("reason")
