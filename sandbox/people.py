"""The people side of the world: who they are, what they came from, and what they did without paying."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Known:
    """The identifiers one record carries; the columns of block P. Empty = the sender did not know them."""

    person_key: str | None = None
    anonymous_id: str | None = None
    email: str | None = None
    phone: str | None = None
    external_id: str | None = None
    payment_customer_id: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """One true person. `index` is the truth's own number and appears in no record."""

    index: int
    first_name: str
    last_name: str
    email: str
    phone: str
    external_id: str
    payment_customer_id: str
    chat_key: str
    anonymous_ids: tuple[str, ...]
    country: str
    currency: str


@dataclass(frozen=True, slots=True)
class Link:
    """One statement that an anonymous id (or chat key) and an e-mail are one person, made at second `at`."""

    person: int
    kind_a: str
    value_a: str
    kind_b: str
    value_b: str
    at: int


@dataclass(frozen=True, slots=True)
class Touch:
    """One sighting of a touch, as one source reports it; reloads and page views of one visit repeat it.

    `via` names the record that carries it: `web` (the tracker), `referral` (a chat opened from an ad),
    `record` (a conversion's own ad parameters) or `order` (a store order's). `at` is epoch seconds,
    `millisecond` what the tracker saw beyond them.
    """

    key: str
    person: int
    at: int
    via: str = "web"
    channel: str = "web"
    origin: str = "web"
    millisecond: int = 0
    ad_platform: str | None = None
    ad_id: str | None = None
    ad_set_id: str | None = None
    campaign_id: str | None = None
    is_direct: bool = False
    is_paid: bool = False
    click_id_type: str | None = None
    click_id: str | None = None
    utm_source: str | None = None
    utm_medium: str | None = None
    utm_campaign: str | None = None
    referrer_host: str | None = None
    session_id: str | None = None
    conversation_id: str | None = None
    seen_live: bool = False
    country: str | None = None
    known: Known = field(default_factory=Known)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome without cash. `carries` is a touch of via `record` whose parameters the record shows;
    `names_click_time` says whether it also tells when that click was."""

    key: str
    person: int | None
    at: int
    type: str
    source: str
    known: Known
    value_minor: int | None = None
    currency: str | None = None
    conversation_id: str | None = None
    carries: Touch | None = None
    names_click_time: bool = False
