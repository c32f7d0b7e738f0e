"""Connections of a profile to the sandbox's accounts."""

from __future__ import annotations

from typing import Any

from api import db
from api.models import Connection, Profile
from sandbox import shop
from sandbox.ad_catalogue import ACCOUNTS
from sandbox.faces import TOKENS


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
