"""What a token that an account's owner made may not read there, and what is not pulled for want of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from connectors.errors import Refused
from connectors.grants import Client
from connectors.stripe_lists import PAID_INVOICES, REFUNDS, StripeLists
from connectors.transport import Transport


@dataclass(frozen=True, slots=True)
class Lack:
    """A right that a token lacks, in its provider's own word, and what of the account is not pulled without it."""

    right: str
    lost: str


# in the order in which a store's pull needs them; who may write something may read it
_SCOPES = {
    "read_products": "products, variants and orders",
    "read_orders": "orders and order_lines",
    "read_all_orders": "orders of more than 60 days ago",
}
# each list as a pull asks for it
_LISTS: Mapping[str, tuple[Mapping[str, str], str]] = {
    "charges": ({}, "conversions: payments and refunds"),
    "refunds": (REFUNDS, "conversions: payments and refunds"),
    "disputes": ({}, "conversions: what was given back by a lost dispute"),
    "invoices": (PAID_INVOICES, "recurring_payments"),
    "customers": ({}, "e-mail and phone of who paid by a saved card"),
}


def lacking(client: Client, transport: Transport, token: str, scopes: Collection[str]) -> list[Lack]:
    """What the token may not read of what a pull reads: of a store by its `scopes`, of a processor by trying.

    Raises only `connectors.errors`; no message holds the token.
    """
    if client.provider == "stripe":
        lists = StripeLists(client.base_url, token, transport)
        return [Lack(kind, lost) for kind, (params, lost) in _LISTS.items() if not _may_read(lists, kind, params)]
    held = {*scopes, *(one.replace("write_", "read_", 1) for one in scopes if one.startswith("write_"))}
    return [Lack(scope, lost) for scope, lost in _SCOPES.items() if scope not in held]


def _may_read(lists: StripeLists, kind: str, params: Mapping[str, str]) -> bool:
    try:
        lists.newest(kind, params)
    except Refused as refused:
        if refused.reason != "permission_missing":
            raise
        return False
    return True
