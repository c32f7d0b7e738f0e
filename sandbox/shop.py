"""The demo shop as a deployment learns of it: its accounts at the vendors, and what it sends by itself."""

from __future__ import annotations

from sandbox.ad_catalogue import ACCOUNTS, SHOP_HOST
from sandbox.faces import TOKENS
from sandbox.shop_records import events, files, packed
from sandbox.shopify_objects import SHOP
from sandbox.world import World

NAME = "Demo: Alder & Finch"
TIME_ZONE = "America/New_York"
CURRENCY = "USD"
OWN_DOMAINS = (SHOP_HOST,)
PAYMENT_HOSTS = ("checkout.stripe.com",)
STORE_HANDLE = SHOP["myshopifyDomain"].partition(".")[0]


def accounts() -> list[dict[str, str]]:
    """The accounts to connect, each with the token that its face takes."""
    ads = [("meta", "ad_platform", row.name, row.id, row.currency, row.time_zone) for row in ACCOUNTS]
    store = ("shopify", "store", SHOP["name"], STORE_HANDLE, SHOP["currencyCode"], SHOP["ianaTimezone"])
    payments = ("stripe", "payments", "Alder & Finch payments", "acct_1AlderFinch", "USD", "UTC")
    names = ("provider", "kind", "display_name", "external_account_id", "currency", "timezone")
    return [
        {**dict(zip(names, row, strict=True)), "token": TOKENS[row[0]]} for row in (*ads, store, payments)
    ]  # fmt: skip


def sent(world: World) -> dict[str, bytes]:
    """All that the shop sends of itself, as files by `<data set>/<name>`; the same world gives the same bytes."""
    streams = {f"{dataset}/site.jsonl.gz": packed(records) for dataset, records in events(world).items()}
    own = {name: content for name, content in files(world).items() if not name.startswith("_shared/")}
    return streams | own
