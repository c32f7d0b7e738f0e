"""Refunds entered by hand: kept here, and sent to the lake as records that lower the payment on its date."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, errors
from api.models import IngestedRecord, ManualRefund
from api.money import in_currency
from api.reading import timestamp
from data_contracts.formats import currency_digits
from data_contracts.records import as_json

# who knows the day of a refund and no time gives its midnight, in a zone that nobody tells
LONGEST_DAY = timedelta(hours=25)


def standing(
    session: Session, profile_id: str, refs: Iterable[str], *, locked: bool = False
) -> dict[str, ManualRefund]:
    """The manual refunds that are not withdrawn, by payment; `locked` for whoever is to change them."""
    chosen = sa.select(ManualRefund).where(
        ManualRefund.profile_id == profile_id,
        ManualRefund.payment_ref.in_(list(refs)),
        ManualRefund.withdrawn_at.is_(None),
    )
    if locked:
        # whoever withdraws it at the same moment is waited for, and it is then none that stands
        chosen = chosen.with_for_update().execution_options(populate_existing=True)
    return {refund.payment_ref: refund for refund in session.scalars(chosen)}


def left_by_others(payment: dict[str, Any]) -> Decimal:
    """What is left of a payment but for refunds by hand: of these only the one that stands here counts.

    In the payment's currency, rounded to its digits, as it is told: a refund in another one leaves parts of them.
    """
    return round(_left(payment), currency_digits()[payment["currency"]])


def taken(amount: Decimal, payment: dict[str, Any]) -> Decimal:
    """What a refund takes off: where it is all that is told to be left, the parts of a coin beside it too.

    They would be worth a coin of another currency, which a payment that was refunded in full would keep.
    """
    return max(amount, _left(payment)) if amount == left_by_others(payment) else amount


def _left(payment: dict[str, Any]) -> Decimal:
    return Decimal(payment["value"] - payment["refunded"] + payment["refunded_by_hand"])


def possible(body: dict[str, Any], payment: dict[str, Any]) -> Decimal:
    """The amount asked for; amount_invalid unless it is positive, whole in the currency and left of the payment."""
    wanted, left = Decimal(body["amount"]), left_by_others(payment)
    digits = currency_digits()[payment["currency"]]
    if body["currency"] != payment["currency"]:
        raise errors.AMOUNT_INVALID(f"The payment is in {payment['currency']}.")
    if wanted != round(wanted, digits):
        raise errors.AMOUNT_INVALID(f"{payment['currency']} has {digits} decimals.")
    if not 0 < wanted <= left:
        raise errors.AMOUNT_INVALID(f"The amount must be above 0 and at most {in_currency(left, payment['currency'])}.")
    return wanted


def refuse_earlier(refunded_at: datetime | None, payment: dict[str, Any]) -> None:
    """422 validation_error for a refund that would have been given back on a day before that of the payment."""
    paid_at = datetime.fromtimestamp(payment["ts"], UTC)
    if refunded_at is not None and refunded_at < paid_at - LONGEST_DAY:
        raise errors.VALIDATION_ERROR(f"refunded_at: is before the payment, which was made at {timestamp(paid_at)}")


def enter(
    session: Session, profile_id: str, payment_ref: str, amount: Decimal, body: dict[str, Any], *, takes: Decimal
) -> ManualRefund:
    """Keep a refund and send its record, of what it `takes`; manual_refund_exists when the payment has one."""
    refund = ManualRefund(
        profile_id=profile_id,
        payment_ref=payment_ref,
        amount=amount,
        currency=body["currency"],
        refunded_at=body["refunded_at"] or db.now(),
        note=body["note"],
    )
    try:
        with session.begin_nested():
            session.add(refund)
    except sa.exc.IntegrityError:
        raise errors.MANUAL_REFUND_EXISTS() from None
    more = {} if takes == amount else {"value": f"{takes:f}"}
    _send(session, refund, more)
    return refund


def withdraw(session: Session, refund: ManualRefund) -> None:
    """Take a refund back: the next snapshot is built without it."""
    refund.withdrawn_at = db.now()
    _send(session, refund, {"_deleted": True})


def _send(session: Session, refund: ManualRefund, more: dict[str, Any]) -> None:
    record = {
        "conversion_key": f"manual_refund:{refund.id}",
        "occurred_at": _instant(refund.refunded_at),
        "conversion_type": "refund_issued",
        "value": in_currency(refund.amount, refund.currency),
        "currency": refund.currency,
        "refunds_payment_ref": refund.payment_ref,
        "refund_kind": "manual",
        "source": "crm",
        **more,
    }
    # a key of its own for the withdrawal: what was sent first is kept as it was sent
    key = f"manual_refund:{refund.id}" + (":withdrawn" if refund.withdrawn_at else "")
    session.add(
        IngestedRecord(
            profile_id=refund.profile_id,
            dataset="conversions",
            record_key=key,
            fingerprint=hashlib.sha256(as_json(record).encode()).hexdigest(),
            record=record,
        )
    )
    session.flush()


def _instant(at: datetime) -> str:
    return at.isoformat()
