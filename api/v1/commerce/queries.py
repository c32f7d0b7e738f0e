"""SQL behind the stored copy of stores: a page of products with their variants, and orders found by a selector."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from api.served import ProfileFacts, Reader

Key = tuple[str, str]
Row = dict[str, Any]

_PRODUCTS = """
select connection_ref, product_id, updated_at, status, title, handle, vendor, product_type, tags, image_url, url,
    currency, created_at
from products
where profile_key = $profile_key
    and ($since is null or updated_at >= $since)
    and ($store is null or connection_ref = $store)
    and ($after_at is null or (updated_at, product_id, connection_ref) > ($after_at, $after_id, $after_store))
order by updated_at, product_id, connection_ref
limit $most
"""

_VARIANTS = """
select connection_ref, product_id, variant_id, title, sku, barcode, position, price, compare_at_price,
    inventory_quantity, inventory_policy, tracked, options, updated_at
from variants
where profile_key = $profile_key and product_id in (select unnest($ids))
order by position nulls last, variant_id
"""

_ORDERS = """
select connection_ref, order_id, order_ref, created_at, updated_at, processed_at, cancelled_at, financial_status,
    fulfillment_status, currency, subtotal, total_discounts, total_shipping, total_tax, total, refunded_total
from orders
where profile_key = $profile_key
    and ($order_ref is null or order_ref = $order_ref)
    and ($email_id is null or email_id = $email_id)
    and ($phone_id is null or phone_id = $phone_id)
    and ($store is null or connection_ref = $store)
    and (
        $after_at is null
        or created_at < $after_at
        or (created_at = $after_at and (order_id, connection_ref) > ($after_id, $after_store))
    )
order by created_at desc, order_id, connection_ref
limit $most
"""

_LINES = """
select connection_ref, order_id, line_id, product_id, variant_id, sku, title, quantity, price
from order_lines
where profile_key = $profile_key and order_id in (select unnest($ids))
order by line_id
"""

_STORES = """
select connection_ref from products where profile_key = $profile_key
union
select connection_ref from orders where profile_key = $profile_key
"""


def products(
    reader: Reader,
    profile: ProfileFacts,
    *,
    since: datetime | None,
    store: str | None,
    most: int,
    after: Sequence[Any] | None,
) -> list[Row]:
    """Up to `most` products in the order in which they changed, behind the position of the last one already given."""
    asked = {"since": since and since.replace(tzinfo=None), "store": store, "most": most}
    return reader.dicts(_PRODUCTS, {"profile_key": profile.profile_key, **asked, **_behind(after)})


def variants(reader: Reader, profile: ProfileFacts, found: Iterable[Row]) -> Mapping[Key, list[Row]]:
    """The variants of these products in the store's order, by (store, product)."""
    return _nested(reader, profile, _VARIANTS, "product_id", found)


def orders(
    reader: Reader,
    profile: ProfileFacts,
    selectors: Mapping[str, str | None],
    *,
    store: str | None,
    most: int,
    after: Sequence[Any] | None,
) -> list[Row]:
    """Up to `most` orders that every one of `order_ref`, `email_id`, `phone_id` that is not None fits; newest first."""
    asked = {**selectors, "store": store, "most": most}
    return reader.dicts(_ORDERS, {"profile_key": profile.profile_key, **asked, **_behind(after)})


def lines(reader: Reader, profile: ProfileFacts, found: Iterable[Row]) -> Mapping[Key, list[Row]]:
    """The lines of these orders, by (store, order)."""
    return _nested(reader, profile, _LINES, "order_id", found)


def stores(reader: Reader, profile: ProfileFacts) -> list[str]:
    """Handles of the stores that the snapshot knows."""
    return [ref for (ref,) in reader.rows(_STORES, {"profile_key": profile.profile_key})]


def position(row: Row, name: str) -> list[Any]:
    """Where a list goes on behind this row; its id is the column `name`."""
    at = row["updated_at" if name == "product_id" else "created_at"]
    return [at.isoformat(), row[name], row["connection_ref"]]


def _behind(after: Sequence[Any] | None) -> dict[str, Any]:
    at, number, store = after or (None, "", "")
    return {"after_at": at and datetime.fromisoformat(at), "after_id": number, "after_store": store}


def _nested(
    reader: Reader, profile: ProfileFacts, sql: str, name: str, found: Iterable[Row]
) -> Mapping[Key, list[Row]]:
    ids = sorted({row[name] for row in found})
    nested: dict[Key, list[Row]] = defaultdict(list)
    if ids:
        for row in reader.dicts(sql, {"profile_key": profile.profile_key, "ids": ids}):
            nested[row["connection_ref"], row[name]].append(row)
    return nested


def utc(at: datetime | None) -> datetime | None:
    """A time of the served file, whose times are all UTC and carry no zone."""
    return at and at.replace(tzinfo=UTC)
