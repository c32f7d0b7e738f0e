"""Rules about whole rows, named as in the contracts' `quality`; they work on the columns of a chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from data_contracts.click_ids import in_cookie
from data_contracts.formats import Refused, email, identifier, phone

Columns = dict[str, list[Any]]
Refuse = Callable[[int, str | None, str], None]
Rule = Callable[[Columns, Refuse], None]

PERSON = ("person_key", "anonymous_id", "email", "phone", "external_id", "payment_customer_id")
AD = ("ad_platform", "ad_id", "ad_set_id", "campaign_id")
# when a row's event was, the surest first
HAPPENED = ("occurred_at", "processed_at", "created_at")
UTM = ("utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term", "utm_id")
AD_CLICK_IDS = frozenset({"fbclid", "fbc", "gclid", "wbraid", "gbraid", "dclid", "ttclid"})
PAID_MEDIUMS = frozenset({"cpc", "ppc", "paid", "paid_social", "paidsocial", "cpm", "display", "banner", "retargeting"})


def _any_given(columns: Columns, names: tuple[str, ...]) -> list[bool]:
    return [any(value is not None for value in values) for values in zip(*(columns[n] for n in names), strict=True)]


def _live(columns: Columns) -> Iterator[int]:
    """The rows that are not withdrawn; a withdrawn row is only its key."""
    return (index for index, withdrawn in enumerate(columns["_deleted"]) if not withdrawn)


def at_least_one_identifier(columns: Columns, refuse: Refuse) -> None:
    """At least one of the person columns is given."""
    given = _any_given(columns, PERSON)
    for index in _live(columns):
        if not given[index]:
            refuse(index, None, f"none of {', '.join(PERSON)} is given; that of somebody erased is not taken")


def direct_has_no_source(columns: Columns, refuse: Refuse) -> None:
    """A direct touch tells nothing of where it came from; a referrer equal to the landing host is not outside."""
    told = _any_given(columns, (*AD, "click_id", *UTM))
    for index in _live(columns):
        referrer = columns["referrer_host"][index]
        outside = referrer is not None and referrer != columns["landing_host"][index]
        if columns["is_direct"][index] and (told[index] or outside):
            refuse(index, "is_direct", "direct, but the row names where the visit came from")


def cookie_is_its_click(columns: Columns, _refuse: Refuse) -> None:
    """Meta's cookie `fbc` is the `fbclid` it holds; the time in it is touch_at, if none was told and it is no later."""
    kinds, ids, dated = columns["click_id_type"], columns["click_id"], columns.get("touch_at")
    for index in _live(columns):
        cookie = in_cookie(ids[index] or "") if (kinds[index] or "").lower() == "fbc" else None
        if cookie is None:
            continue
        kinds[index], (ids[index], clicked_at) = "fbclid", cookie
        if dated is not None and dated[index] is None and _happened_since(columns, index, clicked_at):
            dated[index] = clicked_at


def _happened_since(columns: Columns, index: int, at: datetime) -> bool:
    told = (columns[name][index] for name in HAPPENED if name in columns)
    happened = next((one for one in told if one is not None), None)
    return happened is not None and at <= happened


def paid_by_default(columns: Columns, _refuse: Refuse) -> None:
    """Not told whether paid: it is when it names an ad, has an ad platform's click id, or a paid medium."""
    named = _any_given(columns, AD)
    kinds, mediums = columns["click_id_type"], columns["utm_medium"]
    columns["is_paid"] = [
        told
        if told is not None
        else ad or (kind or "").lower() in AD_CLICK_IDS or (medium or "").lower() in PAID_MEDIUMS
        for told, ad, kind, medium in zip(columns["is_paid"], named, kinds, mediums, strict=True)
    ]


def _of_type(columns: Columns, conversion_type: str) -> Iterator[int]:
    types = columns["conversion_type"]
    return (index for index in _live(columns) if types[index] == conversion_type)


def payment_names_its_money(columns: Columns, refuse: Refuse) -> None:
    """A payment has a value, a currency, and a payment_ref or order_ref."""
    for index in _of_type(columns, "payment_received"):
        for name in ("value", "currency"):
            if columns[name][index] is None:
                refuse(index, name, "missing on a payment")
        if columns["payment_ref"][index] is None and columns["order_ref"][index] is None:
            refuse(index, "payment_ref", "a payment needs payment_ref or order_ref")


def refund_names_its_payment(columns: Columns, refuse: Refuse) -> None:
    """A refund has a positive value, a currency and the payment it lowers."""
    for index in _of_type(columns, "refund_issued"):
        for name in ("value", "currency", "refunds_payment_ref"):
            if columns[name][index] is None:
                refuse(index, name, "missing on a refund")
        if columns["value"][index] == 0:
            refuse(index, "value", "a refund of nothing")


def conversion_defaults(columns: Columns, _refuse: Refuse) -> None:
    """Payments are captured and refunds are refunds, unless told otherwise."""
    for index in _of_type(columns, "payment_received"):
        columns["payment_status"][index] = columns["payment_status"][index] or "captured"
    for index in _of_type(columns, "refund_issued"):
        columns["refund_kind"][index] = columns["refund_kind"][index] or "refund"


def identifiers_are_normalised(columns: Columns, refuse: Refuse) -> None:
    """E-mails, phones and ids are what the person columns take, in the same normal form."""
    shapes: Mapping[str, Callable[[str], str]] = {"email": email, "phone": phone}
    for side in ("a", "b"):
        kinds, values = columns[f"kind_{side}"], columns[f"value_{side}"]
        for index, kind in enumerate(kinds):
            if kind is not None and values[index] is not None:
                try:
                    values[index] = shapes.get(kind, identifier)(values[index])
                except Refused as refused:
                    refuse(index, f"value_{side}", str(refused))


def typed_joins_a_device(columns: Columns, refuse: Refuse) -> None:
    """`typed` joins an anonymous id to an e-mail or phone."""
    for index, confidence in enumerate(columns["confidence"]):
        kinds = {columns["kind_a"][index], columns["kind_b"][index]}
        if confidence == "typed" and not ("anonymous_id" in kinds and kinds & {"email", "phone"}):
            refuse(index, "confidence", "typed joins an anonymous_id to an email or phone only")


def _ordered(first: str, last: str) -> Rule:
    def rule(columns: Columns, refuse: Refuse) -> None:
        for index, (start, end) in enumerate(zip(columns[first], columns[last], strict=True)):
            if start is not None and end is not None and end < start:
                refuse(index, last, f"before {first}")

    return rule


RULES: Mapping[str, Rule] = {
    "at_least_one_identifier": at_least_one_identifier,
    "direct_has_no_source": direct_has_no_source,
    "cookie_is_its_click": cookie_is_its_click,
    "paid_by_default": paid_by_default,
    "payment_names_its_money": payment_names_its_money,
    "refund_names_its_payment": refund_names_its_payment,
    "conversion_defaults": conversion_defaults,
    "identifiers_are_normalised": identifiers_are_normalised,
    "typed_joins_a_device": typed_joins_a_device,
    "window_is_ordered": _ordered("date_from", "date_to"),
    "study_is_ordered": _ordered("start_date", "end_date"),
}
