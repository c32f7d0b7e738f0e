"""What shops write beside an order or a payment: who bought, and which ad they had clicked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# of several the first counts, as of an event's; the cookie `fbc` stands before the click that it dates
CLICK_IDS = ("gclid", "wbraid", "gbraid", "dclid", "fbc", "fbclid", "ttclid", "li_fat_id", "msclkid")
PERSON = ("person_key", "anonymous_id", "external_id", "payment_customer_id")
CLICK = (
    "ad_platform", "ad_id", "ad_set_id", "campaign_id", "touch_at", "click_id_type", "click_id",
    "utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term", "utm_id",
)  # fmt: skip


def pairs(attributes: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Key and value pairs as one mapping, by bare names.

    Shops hide attributes from buyers by a leading underscore; our own script writes `tl_` before a column's name.
    """
    return {
        str(one["key"]).lstrip("_").removeprefix("tl_"): str(one["value"]) for one in attributes if one.get("value")
    }


def carried(attributes: Mapping[str, str]) -> dict[str, str]:
    """The person and ad columns found among the attributes, by our column names.

    A click id may stand under its own name (`fbclid`), as trackers write it, or in Meta's cookie.
    """
    columns = {name: str(attributes[name]) for name in (*PERSON, *CLICK) if attributes.get(name)}
    given = {name: str(attributes[name]) for name in CLICK_IDS if attributes.get(name)}
    if "fbclid" in given and not given.get("fbc", "").endswith(f".{given['fbclid']}"):
        # the cookie is of another click
        given.pop("fbc", None)
    if given and "click_id" not in columns:
        columns["click_id_type"], columns["click_id"] = next(iter(given.items()))
    return columns
