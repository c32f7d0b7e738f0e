"""How people pay: at the processor, through the store or another gateway, once or every month; and what goes back."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from zoneinfo import ZoneInfo

from sandbox.clock import local_date
from sandbox.crowd import token
from sandbox.diary import Diary
from sandbox.money import Order, OrderLine, Payment, Refund, Subscription
from sandbox.people import Known, Person
from sandbox.shelf import BOX_PRICES

DAY = 86_400
SHOP_CURRENCY = "USD"
UTC = ZoneInfo("UTC")


def pay(
    diary: Diary, person: Person | None, at: int, amount: int, currency: str, known: Known, description: str
) -> Payment | None:
    """One payment at the processor, now and then after a failed attempt; None when it only got authorised or failed."""
    random = diary.random
    payment = Payment(
        f"pi_3{token(random, 23)}", f"ch_3{token(random, 23)}", None if person is None else person.index, at, amount,
        currency, "captured", known, description=description,
    )  # fmt: skip
    if at > diary.end:
        return None
    chance = random.random()
    if chance < 0.03:
        status = "authorized" if chance < 0.012 else "failed"
        diary.payments.append(replace(payment, status=status))
        return None
    if chance < 0.07:
        failed = replace(payment, intent_id=f"pi_3{token(random, 23)}", charge_id=f"ch_3{token(random, 23)}")
        diary.payments.append(replace(failed, status="failed", at=at - 240))
    reported = person is not None and random.random() < 0.2
    payment = replace(payment, refunds=_refunds(random, payment, diary.end), reported=reported)
    diary.payments.append(payment)
    return payment


def _refunds(random: Random, payment: Payment, end: int) -> tuple[Refund, ...]:
    chance = random.random()
    if chance >= 0.1:
        return ()
    at = payment.at + int(random.expovariate(1 / (9 * DAY))) + 900
    part = payment.amount_minor * random.choice((20, 25, 30, 50)) // 100
    amounts = [payment.amount_minor] if chance < 0.04 else [part] if chance < 0.09 else [part, part // 2]
    refunds = [
        Refund(f"re_3{token(random, 23)}", at + index * 4 * DAY, amount) for index, amount in enumerate(amounts)
    ]  # fmt: skip
    if random.random() < 0.08:
        refunds[0] = replace(refunds[0], status="failed", reason=None)
    return tuple(refund for refund in refunds if refund.at <= end and refund.amount_minor > 0)


def known_at_checkout(person: Person, anonymous_id: str | None = None) -> Known:
    return Known(anonymous_id=anonymous_id, email=person.email, payment_customer_id=person.payment_customer_id)


def order(diary: Diary, person: Person, at: int, click: tuple[str, str, str, int] | None, device: str) -> None:
    """One store order at second `at`, paid at the processor, through another gateway, or not at all."""
    if at > diary.end:
        return
    random = diary.random
    draft = _basket(diary, person, at, device)
    draft = replace(draft, carries=click)
    chance = random.random()
    if chance < 0.84 or person.currency != SHOP_CURRENCY:
        payer = known_at_checkout(person)
        payment = pay(diary, person, at, draft.presented_total_minor, draft.presented_currency, payer, "Store order")
        if payment is not None:
            diary.orders.append(_paid_at_processor(draft, payment))
        return
    if chance < 0.96:
        diary.orders.append(_paid_elsewhere(random, draft, diary.end))
        return
    status = "pending" if chance < 0.98 else "voided"
    cancelled = at + DAY if status == "voided" and at + DAY <= diary.end else None
    unpaid = replace(draft, financial_status=status, gateway="manual", cancelled_at=cancelled)
    diary.orders.append(replace(unpaid, updated_at=cancelled or at))


def _basket(diary: Diary, person: Person, at: int, device: str) -> Order:
    random = diary.random
    sold = [product for product in diary.products if product.status == "active"]
    lines = []
    for index, product in enumerate(random.sample(sold, random.choices((1, 2, 3), (62, 28, 10))[0])):
        variant = random.choice(product.variants)
        quantity = random.choices((1, 2), (88, 12))[0]
        title = f"{product.title} - {variant.title}"
        lines.append(OrderLine(index, product.id, variant.id, variant.sku, title, quantity, variant.price_minor))
    subtotal = sum(line.price_minor * line.quantity for line in lines)
    discount = subtotal * random.choice((0, 0, 0, 10, 15)) // 100
    shipping = 0 if subtotal > 15_000 else 795
    tax = (subtotal - discount) * 6 // 100
    total = subtotal - discount + shipping + tax
    shown = _shown(diary, total, person.currency, at)
    return Order(
        0, "", person.index, at, at, "paid", random.random() < 0.9, "stripe", None, SHOP_CURRENCY, subtotal, discount,
        shipping, tax, 0, person.currency, shown,
        Known(anonymous_id=device, email=person.email, phone=person.phone), tuple(lines),
    )  # fmt: skip


def _shown(diary: Diary, total: int, currency: str, at: int) -> int:
    day = local_date(at, UTC)
    converted = diary.exchange.convert(total, SHOP_CURRENCY, currency, day)
    if converted is None:
        raise LookupError(f"no rate to {currency} on {day}")
    return converted if currency == SHOP_CURRENCY else converted * 1015 // 1000


def _paid_at_processor(draft: Order, payment: Payment) -> Order:
    taken = payment.amount_minor - payment.net_minor
    refunded = draft.total_minor * taken // payment.amount_minor
    status = "refunded" if payment.net_minor == 0 else "partially_refunded" if taken else "paid"
    updated = max([draft.created_at, *(refund.at for refund in payment.refunds)])
    return replace(
        draft, intent_id=payment.intent_id, refunded_minor=refunded, financial_status=status, updated_at=updated
    )


def _paid_elsewhere(random: Random, draft: Order, end: int) -> Order:
    paid = replace(draft, gateway="paypal", presented_total_minor=draft.total_minor)
    at = draft.created_at + random.randrange(DAY, 20 * DAY)
    if random.random() < 0.12 and at <= end:
        share = random.choice((25, 50, 100))
        refunded = draft.total_minor * share // 100
        status = "refunded" if share == 100 else "partially_refunded"
        return replace(paid, refunded_minor=refunded, financial_status=status, updated_at=at)
    return paid


def subscribe(diary: Diary, person: Person, at: int, device: str | None, renewals: int = 12) -> None:
    """A monthly box from second `at`: the first payment, then one every 30 days until cancelled, some upgraded."""
    if at > diary.end:
        return
    random = diary.random
    small, large = BOX_PRICES[person.currency]
    known = known_at_checkout(person, device)
    number = f"sub_1{token(random, 23)}"
    lasts = min(renewals, random.choice((1, 2, 3, 12, 12)))
    upgrade_after = random.randint(1, 3) if random.random() < 0.2 else None
    amount, due = small, [(at, "create")]
    for month in range(1, lasts + 1):
        if month == upgrade_after:
            due.append((at + month * 30 * DAY - 7 * DAY, "update"))
        due.append((at + month * 30 * DAY, "cycle"))
    for sequence, (moment, reason) in enumerate(due, 1):
        if moment > diary.end:
            break
        amount = large if reason == "update" else amount
        diary.payments.append(_box_payment(diary, person, moment, amount, known, number, sequence, reason))
    status = "active" if lasts == 12 else "canceled"
    diary.subscriptions.append(
        Subscription(number, person.index, person.payment_customer_id, at, status, amount, person.currency)
    )


def _box_payment(
    diary: Diary, person: Person, at: int, amount: int, known: Known, number: str, sequence: int, reason: str
) -> Payment:
    random = diary.random
    payment = Payment(
        f"pi_3{token(random, 23)}", f"ch_3{token(random, 23)}", person.index, at, amount, person.currency, "captured",
        replace(known, anonymous_id=None), subscription_id=number, invoice_id=f"in_1{token(random, 23)}",
        sequence_no=sequence, billing_reason=reason, description="Trail Box",
    )  # fmt: skip
    return replace(payment, refunds=_refunds(random, payment, diary.end) if random.random() < 0.5 else ())
