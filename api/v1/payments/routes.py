"""GET /payments, PUT /payments/{paymentRef}/payer, POST and DELETE /payments/{paymentRef}/refund."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from api import auth, context, db, errors, pagination, pii_log
from api.audit import Attempt, record, target
from api.customer_keys import customer_key
from api.customers import Directory
from api.guard import guarded
from api.http import Blueprint
from api.logs import clean
from api.models import ManualRefund, Profile
from api.money import in_currency
from api.roles import Role
from api.scopes import Scope
from api.served import profile_facts
from api.snapshot import snapshots
from api.v1.attribution.asking import ask_anew
from api.v1.customers.selectors import Selector
from api.v1.payments import payers, queries, refunds
from api.v1.payments.schemas import (
    Assignment,
    IntervalQuery,
    PageQuery,
    PaymentRow,
    Refund,
    RefundBody,
    StatusQuery,
    Withdrawn,
)
from api.writing import actor, idempotent, session

bp = Blueprint("payments", __name__, description="Payments, their payers, and refunds entered by hand.")

UNKNOWN = "No payment of this profile has that reference."
NOBODY = {"person_ref": None, "payer_hint": None}
REF = re.compile(r"[a-z0-9_]{1,32}:[^\x00-\x1f]{1,200}")


@bp.route("/payments")
@guarded(scope=Scope.CUSTOMERS_READ, units=3)
@bp.arguments(StatusQuery, location="query")
@bp.arguments(IntervalQuery, location="query")
@bp.arguments(PageQuery, location="query")
@bp.response(200, PaymentRow(many=True))
def payment_list(status: dict[str, Any], interval: dict[str, Any], query: dict[str, Any]) -> list[dict[str, Any]]:
    """Payments, newest first, with a masked hint at who paid

    As the last snapshot has them; a refund entered by hand since stands in `manual_refund` at once, and in the sums
    from the next snapshot on. Payments of who was erased are told without a payer. Each call is noted in the log of
    personal data. `from` and `to` go together: a wrong pair is 422 `range_invalid`, another `status` 422
    `status_invalid`.
    """
    asked = queries.Asked(status["status"] == "unidentified", interval["since"], interval["until"])
    listing = pagination.Listing("/payments", _profile_id(), {**status, "seconds": list(asked.seconds)})
    resume = pagination.read(_key(), listing, query["cursor"]) if query["cursor"] is not None else None
    context.paginate(cursor=None, has_next=False)
    # what was entered by hand changes between snapshots, so the answer has no ETag of one
    with snapshots(context.settings()).reader(resume.snapshot_id if resume else None) as reader:
        if resume and reader is None:
            raise pagination.expired()
        facts = profile_facts(reader, _profile_id()) if reader else None
        context.meta(snapshot_id=reader.snapshot_id if reader else None, pii_level_applied="masked")
        if reader is None or facts is None:
            return []
        found = queries.page(reader, facts, asked, most=query["limit"] + 1, after=resume.position if resume else None)
        rows = found[: query["limit"]]
        if len(found) > len(rows):
            last = [rows[-1]["ts"], rows[-1]["payment_ref"]]
            context.paginate(cursor=pagination.issue(_key(), listing, last, reader.snapshot_id), has_next=True)
        with db.transaction(context.settings().operational_url) as unit:
            gone = Directory(reader, _profile_id()).erased(
                unit, [row["person_ref"] for row in rows if row["person_ref"]]
            )
            by_hand = refunds.standing(unit, _profile_id(), [name for row in rows for name in row["names"]])
            pii_log.record(
                unit,
                principal=auth.current(),
                route="/payments",
                method="GET",
                profile_id=_profile_id(),
                subject="payment",
                customer_key=None,
                record_count=len(rows),
                pii_level="masked",
            )
    told = [row if row["person_ref"] not in gone else {**row, **NOBODY} for row in rows]
    return [_row(row, next((by_hand[name] for name in row["names"] if name in by_hand), None)) for row in told]


@bp.route("/payments/<path:payment_ref>/payer", methods=["PUT"])
@guarded(scope=Scope.CUSTOMERS_READ, also=[Scope.ATTRIBUTION_WRITE], role=Role.ADMIN)
@bp.arguments(Selector)
@idempotent()
@bp.response(200, Assignment)
def assign_payer(selector: dict[str, str], payment_ref: str) -> dict[str, Any]:
    """Say who paid

    For people of the published snapshot. It wins over what any source tells, from the next snapshot on.
    """
    payment = _payment(payment_ref)
    # two who assign at once do it one after the other
    session().get_one(Profile, _profile_id(), with_for_update={"key_share": True})
    with snapshots(context.settings()).reader(None) as reader:
        facts = profile_facts(reader, _profile_id()) if reader else None
        if reader is None or facts is None:
            raise errors.CONVERSION_NOT_FOUND(UNKNOWN)
        people = payers.People(reader, facts.profile_key, _profile_id())
        payer, before = people.named(session(), selector), people.standing(session(), payment_ref)
        previous = before.person_ref if before else payment["person_ref"]
        if previous is not None and Directory(reader, _profile_id()).erased(session(), [previous]):
            # told to nobody from the moment they asked to be forgotten
            previous = None
    is_new = payers.assign(session(), _profile_id(), payment_ref, payer)
    if is_new:
        ask_anew(session(), _profile_id())
    key, previous = _customer(payer.person_ref), _customer(previous)
    changed = {
        "target": _target(payment_ref),
        "before": {"customer_key": previous},
        "after": {"customer_key": key},
    }
    outcome = "done" if is_new else "no_change"
    record(session(), actor(), Attempt("payment.payer_assigned", changed), outcome=outcome)
    return {"payment_ref": payment_ref, "customer_key": key, "previous_customer_key": previous}


@bp.route("/payments/<path:payment_ref>/refund", methods=["POST"])
@guarded(scope=Scope.ATTRIBUTION_WRITE, role=Role.ADMIN)
@bp.arguments(RefundBody)
@idempotent()
@bp.response(201, Refund)
def refund_payment(body: dict[str, Any], payment_ref: str) -> dict[str, Any]:
    """Enter a refund by hand

    It lowers the payment on the payment's own date, from the next snapshot on. A payment has at most one.
    """
    payment = _payment(payment_ref)
    if refunds.standing(session(), _profile_id(), payment["names"]):
        raise errors.MANUAL_REFUND_EXISTS()
    amount = refunds.possible(body, payment)
    refunds.refuse_earlier(body["refunded_at"], payment)
    takes = refunds.taken(amount, payment)
    refund = refunds.enter(session(), _profile_id(), payment_ref, amount, body, takes=takes)
    entered = {"amount": body["amount"], "currency": body["currency"]}
    details = {"target": _target(payment_ref), "after": entered}
    record(session(), actor(), Attempt("payment.refunded", details))
    left = refunds.left_by_others(payment) - amount
    return {
        "refund_id": refund.id,
        "payment_ref": payment_ref,
        "amount": in_currency(amount, payment["currency"]),
        "net_value": in_currency(left, payment["currency"]),
    }


@bp.route("/payments/<path:payment_ref>/refund", methods=["DELETE"])
@guarded(scope=Scope.ATTRIBUTION_WRITE, role=Role.ADMIN)
@idempotent()
@bp.response(200, Withdrawn)
def withdraw_refund(payment_ref: str) -> dict[str, Any]:
    """Withdraw the refund that was entered by hand

    For the one that POST made; what sources told is not touched. The figures follow with the next snapshot, and another
    refund may be entered at once. Without one `deleted` is false, so it is safe to repeat.
    """
    payment = _payment(payment_ref)
    standing = refunds.standing(session(), _profile_id(), payment["names"], locked=True)
    if not standing:
        return {"deleted": False}
    # two that became known to be one payment may have had one each
    for refund in standing.values():
        refunds.withdraw(session(), refund)
        amount = in_currency(refund.amount, refund.currency)
        details = {"target": _target(payment_ref), "before": {"amount": amount, "currency": refund.currency}}
        record(session(), actor(), Attempt("payment.refund_withdrawn", details))
    return {"deleted": True}


def _target(payment_ref: str) -> dict[str, str | None]:
    # whoever names payments may put an address into the name, and no erasure reaches the trail
    return target("payment", clean(payment_ref))


def _payment(payment_ref: str) -> dict[str, Any]:
    if not REF.fullmatch(payment_ref):
        raise errors.PAYMENT_REF_INVALID()
    with snapshots(context.settings()).reader(None) as reader:
        facts = profile_facts(reader, _profile_id()) if reader else None
        found = queries.one(reader, facts, payment_ref) if reader and facts else None
    if found is None:
        raise errors.CONVERSION_NOT_FOUND(UNKNOWN)
    return found


def _customer(person: str | None) -> str | None:
    return customer_key(context.settings(), _profile_id(), person) if person else None


def _row(row: dict[str, Any], by_hand: ManualRefund | None) -> dict[str, Any]:
    person, currency = row["person_ref"], row["currency"]
    return {
        "payment_ref": row["payment_ref"],
        "occurred_at": datetime.fromtimestamp(row["ts"], UTC),
        "value": in_currency(row["value"], currency),
        "refunded_value": in_currency(row["refunded"], currency),
        "refunded_beyond_value": in_currency(row["refunded_beyond"], currency),
        "currency": currency,
        "provider": row["payment_ref"].partition(":")[0],
        "customer_key": _customer(person),
        "identified": person is not None,
        "payer_hint": row["payer_hint"],
        "manual_refund": by_hand and {"amount": in_currency(by_hand.amount, currency), "at": by_hand.refunded_at},
    }


def _profile_id() -> str:
    return auth.current().profile.id


def _key() -> bytes:
    return context.settings().signing_key()
