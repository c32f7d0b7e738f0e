"""From sightings to touches: a click reloaded, a page view of the same visit or a stale form field is no new touch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sandbox.money import Order
from sandbox.people import Touch


def true_touches(sightings: Iterable[Touch], orders: Sequence[Order]) -> list[Touch]:
    """Each touch once, at its first sight.

    One conversation's referrals are one touch, seen live if it ever was; the same click id of one person is one
    touch; the same ad in one session is one touch; the same parameters on a person's records are one touch.
    """
    rows = [*sightings, *(touch for order in orders if (touch := _carried(order)) is not None)]
    first: dict[tuple[object, ...], Touch] = {}
    for row in sorted(rows, key=lambda row: (not row.seen_live, row.at, row.key)):
        first.setdefault(_reference(row), row)
    clicked: set[tuple[object, ...]] = set()
    visited: set[tuple[object, ...]] = set()
    kept = []
    for row in sorted(first.values(), key=lambda row: (row.at, row.key)):
        click = (row.person, row.click_id_type, row.click_id)
        visit = (row.person, row.session_id, row.ad_platform, row.ad_id)
        if (row.click_id and click in clicked) or (row.session_id and row.ad_id and visit in visited):
            continue
        clicked.add(click)
        visited.add(visit)
        kept.append(row)
    return kept


def _reference(row: Touch) -> tuple[object, ...]:
    if row.via == "referral":
        return ("conversation", row.person, row.conversation_id)
    if row.via == "record":
        return ("record", row.person, row.ad_platform, row.ad_id, row.ad_set_id, row.campaign_id, row.click_id)
    return ("sighting", row.key)


def _carried(order: Order) -> Touch | None:
    if order.carries is None or order.person is None:
        return None
    kind, click, ad, at = order.carries
    return Touch(
        key=f"order:{order.id}", person=order.person, at=at, via="order", channel="other", origin="other",
        ad_platform="meta", ad_id=ad, is_paid=True, click_id_type=kind, click_id=click,
    )  # fmt: skip
