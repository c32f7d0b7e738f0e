"""What becomes of people: shoppers who order, leads who are sold to, chats that open from an ad."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from sandbox.arrivals import AdPicker, arrive, echoes
from sandbox.checkout import DAY, known_at_checkout, order, pay, subscribe
from sandbox.crowd import token
from sandbox.diary import Diary, Mark
from sandbox.kinship import missing_links
from sandbox.people import Known, Outcome, Person, Touch

TRIP_PRICES = (24_000, 38_000, 52_000, 89_000)
# people who know the shop buy more whatever ad they came by
WARM_BUYERS = {"hot": 1.3, "warm": 1.05, "cold": 0.8}
LOCAL_VALUE = {"USD": 1.0, "EUR": 0.92, "GBP": 0.79, "JPY": 1.49}


@dataclass(slots=True)
class Story:
    """One person's journey while it is told."""

    diary: Diary
    picker: AdPicker
    person: Person
    appeals: dict[str, float]

    @property
    def random(self) -> Random:
        return self.diary.random

    def visit(self, at: int, group: str) -> Touch:
        """One visit with what life adds to it; returns the visit."""
        touch = arrive(self.random, self.person, at, group, self.picker)
        for row in (touch, *echoes(self.random, touch, self.person, group, self.picker)):
            self.diary.touch(row)
        return touch

    def visits(self, at: int, group: str) -> list[Touch]:
        """One to five visits from second `at`, hours to weeks apart."""
        rows = [self.visit(at, group)]
        while len(rows) < 5 and self.random.random() < 0.42:
            at += int(self.random.lognormvariate(0.6, 1.1) * DAY) + 60
            rows.append(self.visit(at, group))
        return rows

    def outcome(self, type: str, at: int, source: str, known: Known, value: int | None = None, **more: Any) -> bool:
        """Record one outcome; `value` is in minor units of the person's currency."""
        currency = None if value is None else self.person.currency
        row = Outcome(self.diary.outcome_key(), self.person.index, at, type, source, known, value, currency)
        return self.diary.outcome(replace(row, **more))

    def appeal(self, touches: list[Touch]) -> float:
        """Mean appeal to buy of the ads they came from; 0.8 for arrivals without a known ad."""
        return sum(self.appeals.get(touch.ad_id or "", 0.8) for touch in touches) / len(touches)

    def close(self, begun: Mark) -> None:
        """State what no record says: that the identifiers it used since `begun` are one person's.

        Somebody who never did more than visit stays as many strangers as they had devices.
        """
        records = self.diary.since(begun)
        if any(is_outcome for _, _, is_outcome in records):
            self.diary.links += missing_links(self.person.index, [(known, at) for known, at, _ in records])


def shop(story: Story, at: int) -> None:
    """Visits and orders in one to three rounds; an order does not end the journey."""
    random, person = story.random, story.person
    for _ in range(random.choices((1, 2, 3), (60, 28, 12))[0]):
        touches = story.visits(at, "sales")
        last = touches[-1]
        buys_at = last.at + random.choice((180, 900, 3_600, DAY, 3 * DAY)) + random.randrange(300)
        if random.random() < 0.5 * story.appeal(touches):
            _buy(story, buys_at, last)
        at = buys_at + int(random.uniform(4, 45) * DAY)
    if random.random() < 0.1:
        subscribe(story.diary, person, buys_at + 1_200, None)


def _buy(story: Story, at: int, last: Touch) -> None:
    random, person, diary = story.random, story.person, story.diary
    device = last.known.anonymous_id or person.anonymous_ids[0]
    if random.random() < 0.12:
        amount = round(random.choice((2_500, 5_000, 9_900)) * LOCAL_VALUE[person.currency])
        pay(diary, person, at, amount, person.currency, known_at_checkout(person), "Gift card")
        return
    click = None
    if last.click_id and last.click_id_type and last.ad_id and random.random() < 0.5:
        click = (last.click_id_type, last.click_id, last.ad_id, last.at)
    elif random.random() < 0.08:
        click = _unseen_click(story, at - 2 * 3_600)
    order(diary, person, at, click, device)


def _unseen_click(story: Story, at: int) -> tuple[str, str, str, int] | None:
    ad = story.picker.pick(story.random, at, story.person, "sales")
    return None if ad is None else ("fbclid", f"IwAR{token(story.random, 44)}", ad.id, at)


def enquire(story: Story, at: int) -> None:
    """A lead for a guided trip: form, appointment, quote, deal and payment, each of which may not happen."""
    random, person = story.random, story.person
    blocked = random.random() < 0.15
    touches = [] if blocked else story.visits(at, "leads")
    record = _record_touch(story, at, touches)
    lead_at = (touches[-1].at if touches else at) + 240 + random.randrange(900)
    if random.random() > 0.62 * (story.appeal(touches) if touches else 1.0):
        return
    device = touches[-1].known.anonymous_id if touches else None
    form = Known(anonymous_id=device, email=person.email, phone=person.phone)
    crm = Known(external_id=person.external_id, email=person.email)
    price = round(random.choice(TRIP_PRICES) * LOCAL_VALUE[person.currency])
    names_time = bool(touches) or random.random() < 0.5
    carried: dict[str, Any] = {"carries": record, "names_click_time": names_time} if record else {}
    story.outcome("lead_created", lead_at, "crm" if blocked else "server_event", form, **carried)
    steps = (("appointment_booked", 0.62, 0.5), ("appointment_attended", 0.8, 4), ("quote_presented", 0.8, 2),
             ("closed_won", 0.62, 9))  # fmt: skip
    moment = lead_at
    for step, chance, days in steps:
        moment += int(random.uniform(0.1, 2) * days * DAY) + 60
        if random.random() > chance:
            return
        worth = price if step in ("quote_presented", "closed_won") else None
        again = carried if step == "closed_won" and random.random() < 0.5 else {}
        story.outcome(step, moment, "crm", crm, worth, **again)
    pay(story.diary, person, moment + random.randrange(60, DAY), price, person.currency,
        known_at_checkout(person), "Guided trip")  # fmt: skip


def _record_touch(story: Story, at: int, touches: list[Touch]) -> Touch | None:
    """The click a CRM record shows: that of a visit already seen, or one that no tracker saw."""
    seen = next((touch for touch in touches if touch.click_id and touch.ad_id), None)
    person = story.person
    if seen is not None and story.random.random() < 0.3:
        return replace(seen, via="record", origin="other", channel="other", session_id=None, known=Known())
    ad = story.picker.pick(story.random, at, person, "leads") if not touches else None
    if ad is None:
        return None
    return Touch(
        key="", person=person.index, at=at, via="record", channel="other", origin="other", ad_platform="meta",
        ad_id=ad.id, ad_set_id=ad.ad_set_id, campaign_id=ad.campaign_id, is_paid=True,
    )  # fmt: skip


def chat(story: Story, at: int) -> None:
    """A conversation opened from an ad: the message is the outcome, the referral its touch, at one instant or near."""
    random, person = story.random, story.person
    if random.random() < 0.35:
        story.visits(at - random.randrange(1, 12) * DAY, "sales")
    channel = random.choices(("chatapp", "social", "pagechat"), (60, 25, 15))[0]
    known = Known(phone=person.phone) if channel == "chatapp" else Known(person_key=person.chat_key)
    conversation = f"v_{token(random, 16)}"
    ad = story.picker.pick(random, at, person, "messaging")
    if ad is not None and random.random() < 0.85:
        referral = Touch(
            key=f"r_{token(random, 16)}", person=person.index, at=at, via="referral", channel=channel,
            origin="conversation_referral", ad_platform="meta", ad_id=ad.id, is_paid=True,
            conversation_id=conversation, seen_live=True, known=known,
        )  # fmt: skip
        story.diary.touch(referral)
        if random.random() < 0.2:
            again = replace(referral, key=f"r_{token(random, 16)}", seen_live=False, origin="partner_ad_referral")
            story.diary.touch(again)
    started_at = at + random.choice((0, 0, 4, 40))
    story.outcome("dm_started", started_at, "chat", known, conversation_id=conversation)
    bought_at = started_at + random.randrange(1_800, 6 * DAY)
    if random.random() < 0.3:
        full = replace(known, email=person.email)
        story.outcome("lead_created", bought_at - 900, "chat", full, conversation_id=conversation)
    if random.random() < 0.36 * (story.appeals.get(ad.id, 0.8) if ad is not None else 0.8):
        amount = round(random.choice((8_800, 12_400, 16_400, 19_800)) * LOCAL_VALUE[person.currency])
        pay(story.diary, person, bought_at, amount, person.currency, known_at_checkout(person), "Sold in chat")
