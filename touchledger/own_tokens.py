"""Accounts that are connected by a token which their owner made, where the provider needs no app of ours for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from api import connecting, db
from api.connections import PATIENCE
from api.errors import ApiError
from api.models import Connection, Profile
from api.models.connection import PROVIDER_WORDS
from api.providers import SPOKEN
from connectors.authorizing import opened
from connectors.errors import ConnectorError, Refused, Revoked
from connectors.grants import Client, Grant
from connectors.rights import Lack, lacking
from connectors.shopify_graph import HANDLE
from connectors.transport import Transport
from touchledger.accounts import unknown
from touchledger.settings import Settings

# where the accounts of each vendor are asked
ADDRESSES = {"shopify": "https://{shop}.myshopify.com", "stripe": "https://api.stripe.com"}
WITHIN_SECONDS = 30.0


def connect(
    settings: Settings, *, vendor: str, profile_id: str, token: str, shop: str | None = None, is_sandbox: bool = False
) -> dict[str, Any]:
    """Connect the account that a token opens, or give its connection this token; tells its id, name and account.

    `lacking` has each right that the token lacks (`right`) and what is not pulled without it (`lost`).

    Raises BadParameter for an unknown or archived profile and a shop's name that is none, ClickException where the
    provider does not take the token or does not answer, and where another profile of the workspace has the account.
    """
    with db.transaction(settings.operational_url, durable=False) as session:
        profile = session.get(Profile, profile_id)
    if profile is None or profile.archived_at is not None:
        raise unknown("profile", profile_id, "--profile")
    provider, address = PROVIDER_WORDS.get(vendor, vendor), ADDRESSES[vendor]
    if not is_sandbox and "{shop}" in address:
        handle = (shop or "").lower().removeprefix("https://").rstrip("/").removesuffix(".myshopify.com")
        if not HANDLE.fullmatch(handle):
            raise click.BadParameter("name the shop as NAME.myshopify.com has it", param_hint="--shop")
        address = address.format(shop=handle)
    base_url = f"{settings.sandbox_url}/{SPOKEN[provider].face}" if is_sandbox else address
    asked = Client(vendor, "", "", "", base_url, is_sandbox)
    grant, lacks = _asked(asked, token)
    try:
        with db.transaction(settings.operational_url) as session:
            number = connecting.keep(session, settings, profile, provider=provider, asked=asked, grant=grant)
            made = session.get_one(Connection, number)
            told = {"connection_id": made.id, "account": made.external_account_id, "name": made.display_name}
            return {**told, "lacking": [asdict(one) for one in lacks]}
    except ApiError as refusal:
        raise click.ClickException(refusal.message) from None


def _asked(asked: Client, token: str) -> tuple[Grant, Sequence[Lack]]:
    # headers are in this alphabet, and nothing else of what is pasted is a token
    if not re.fullmatch(r"[!-~]{1,500}", token):
        raise click.BadParameter("it has no characters, or such as no token has", param_hint="the token")
    try:
        with Transport(PATIENCE, within=WITHIN_SECONDS) as transport:
            grant = opened(asked, transport, token)
            return grant, lacking(asked, transport, token, grant.scopes)
    except Revoked:
        raise click.ClickException(f"{asked.provider} does not know this token") from None
    except Refused as refusal:
        raise click.ClickException(
            f"{asked.provider} refuses to say whose token this is (HTTP {refusal.status}): it may lack the right to"
            " read the account, or the shop is another"
        ) from None
    except ConnectorError as failure:
        raise click.ClickException(str(failure)) from None
