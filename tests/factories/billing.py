"""A deployment that sells plans through the sandbox's payment processor."""

from __future__ import annotations

import httpx
from pydantic import SecretStr

from api import db
from api.models import Workspace
from sandbox.faces import TOKENS
from sandbox.stripe_billing import PRICES
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings

WEBHOOK_SECRET = "whsec_sandbox0000000000"
PRICE_IDS = {name.removeprefix("price_"): name for name in PRICES}


def selling(settings: Settings, sandbox: RunningSandbox) -> Settings:
    """The same deployment, with the sandbox as its payment processor."""
    return settings.model_copy(
        update={
            "billing_url": f"{sandbox.url}/stripe",
            "billing_secret": SecretStr(TOKENS["stripe"]),
            "billing_webhook_secret": SecretStr(WEBHOOK_SECRET),
            "billing_prices": PRICE_IDS,
        }
    )


def workspace(url: str, **members: str) -> Workspace:
    """A new workspace without members."""
    with db.transaction(url) as session:
        made = Workspace(**{"name": "Agency", **members})
        session.add(made)
    return made


def decide(page: str, outcome: str = "paid") -> httpx.Response:
    """What the payer does on the processor's page: paid or abandoned."""
    with httpx.Client(trust_env=False) as client:
        return client.post(page, data={"outcome": outcome})
