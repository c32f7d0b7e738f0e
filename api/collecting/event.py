"""One event as a tracker tells it: parsed and judged, before anything is known of its profile."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from api import errors
from api.collecting.page import LONGEST_CLICK, LONGEST_LABEL, UTM, Page, host_of, page_of
from data_contracts.formats import FORMATS, Refused, currency_digits
from data_contracts.values import clean_text, instant

LATEST = timedelta(days=30)
MOST_RAW = 16 * 1024
MOST_CLICK_IDS = 16
MOST_IDENTIFIERS = 16
CENTS = Decimal("0.0001")
LARGEST = Decimal(10) ** 14
# as scripts write numbers; Decimal also reads 1_000 and the digits of every other writing
_AMOUNT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# what has its own place, or must not be kept as it came: an address may tell anything of its reader
_PLACED = frozenset(
    {
        *("trackingKey", "eventId", "eventName", "eventTimeClient", "anonymousId", "sessionId", "pageUrl", "referrer"),
        *("userId", "identify", "utm", "clickIds", "fbc", "valueAmount", "currency", "order_id"),
    }
)
# kinds and longest values by what `identify.identifiers` calls them
_IDENTIFIERS = {"userId": ("external_id", 128), "email": ("email", 254), "phone": ("phone", 32)}
# names of consent under which sites ask whether ads may be told
_MARKETING = ("marketing", "ads", "advertising", "ad_storage", "ad_user_data", "ad_personalization")
# the words that consent banners have for it; 0 and 1 are equal to the answers that they stand for
_GRANTED = frozenset({True, "true", "1", "yes", *("grant", "granted", "allow", "allowed", "accept", "accepted")})

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """An event as it was told. `known` are (kind, normal value) identifiers of its person beside the browser's.

    Of several of one kind the first is the one that the event has a field for.
    """

    event_id: str
    name: str
    anonymous_id: str
    session_id: str
    occurred_at: datetime
    received_at: datetime
    page: Page
    referrer: str | None
    utm: Mapping[str, str]
    click_ids: Mapping[str, str]
    known: tuple[tuple[str, str], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    value: Decimal | None = None
    currency: str | None = None
    order_ref: str | None = None
    consent: bool | None = None
    signals_gpc: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)


def told(body: Body, received_at: datetime) -> Told:
    """The event of a body. Raises ApiError, 422 validation_error that names the field."""
    value, currency = _money(body)
    return Told(
        event_id=text(body, "eventId", 128),
        name=text(body, "eventName", 64),
        anonymous_id=text(body, "anonymousId", 128),
        session_id=text(body, "sessionId", 128),
        occurred_at=moment(body, "eventTimeClient", received_at),
        received_at=received_at,
        page=page(body),
        referrer=host_of(_optional(body, "referrer", 8192) or ""),
        utm=_labels(body),
        click_ids=_click_ids(body),
        known=_known(body),
        names=_names(body),
        value=value,
        currency=currency,
        order_ref=_optional(body, "order_id", 190),
        consent=_consent(body.get("consent")),
        signals_gpc=body.get("gpc") is True,
        raw=_raw(body),
    )


def text(body: Body, name: str, longest: int) -> str:
    """A required text. 422 when it is missing, empty, no text or too long."""
    found = _optional(body, name, longest)
    if found is None:
        raise errors.VALIDATION_ERROR(f"{name}: is required.")
    return found


def moment(body: Body, name: str, received_at: datetime) -> datetime:
    """When something happened: as the browser's clock says, unless that cannot be right.

    A time after its receipt, or more than thirty days before it, gives way to the receipt. 422 for what is no time.
    """
    given = body.get(name)
    try:
        if isinstance(given, (int, float)) and not isinstance(given, bool):
            at = datetime.fromtimestamp(given / 1000, UTC)
        else:
            at = instant(given)
    except (Refused, ValueError, OverflowError, OSError):
        raise errors.VALIDATION_ERROR(f"{name}: is no time.") from None
    return at if received_at - LATEST <= at <= received_at else received_at


def page(body: Body) -> Page:
    """The page it happened on."""
    try:
        return page_of(text(body, "pageUrl", 60_000))
    except ValueError:
        raise errors.VALIDATION_ERROR("pageUrl: is not the address of a page.") from None


def identifier(kind: str, value: str, name: str) -> tuple[str, str]:
    """An identifier in its normal form; 422 for one that is none."""
    try:
        return kind, FORMATS[kind](value) if kind in FORMATS else value
    except Refused as refused:
        raise errors.VALIDATION_ERROR(f"{name}: {refused}.") from None


def _optional(body: Body, name: str, longest: int) -> str | None:
    value = body.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    try:
        found = clean_text(value) if value is not None else ""
    except Refused as refused:
        raise errors.VALIDATION_ERROR(f"{name}: {refused}.") from None
    if len(found) > longest:
        raise errors.VALIDATION_ERROR(f"{name}: is longer than {longest} characters.")
    return found or None


def _typed(body: Body, name: str, longest: int) -> str | None:
    """A text that no site makes, but its visitors or other scripts do: without it the event is kept all the same."""
    with suppress(errors.ApiError):
        return _optional(body, name, longest)
    return None


def _mapping(body: Body, name: str) -> Body:
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise errors.VALIDATION_ERROR(f"{name}: must be an object.")
    return value or {}


def _labels(body: Body) -> dict[str, str]:
    given = _mapping(body, "utm")
    return {name: value[:LONGEST_LABEL] for name in UTM if (value := _optional(given, name, 8192))}


def _click_ids(body: Body) -> dict[str, str]:
    given = _mapping(body, "clickIds")
    if len(given) > MOST_CLICK_IDS:
        raise errors.VALIDATION_ERROR(f"clickIds: holds more than {MOST_CLICK_IDS} ids.")
    found = {name[:32].lower(): value for name in given if (value := _optional(given, name, LONGEST_CLICK))}
    cookie = _typed(body, "fbc", LONGEST_CLICK)
    return {**found, "fbc": cookie} if cookie else found


def _known(body: Body) -> tuple[tuple[str, str], ...]:
    given = _mapping(body, "identify")
    told = [
        ("external_id", _optional(body, "userId", 128) or _optional(given, "userId", 128)),
        ("email", _typed(given, "email", 254)),
        ("phone", _typed(given, "phone", 32)),
        *_listed(given.get("identifiers")),
    ]
    found: dict[tuple[str, str], None] = {}
    for kind, value in told:
        if value is not None:
            # a number as people type it is no reason to lose what they did
            with suppress(errors.ApiError):
                found[identifier(kind, value, kind)] = None
    return tuple(found)


def _listed(given: Any) -> list[tuple[str, str | None]]:
    """What a list of {type, value} tells; what is none of it is passed over."""
    found = []
    for one in given[:MOST_IDENTIFIERS] if isinstance(given, list) else ():
        name = one.get("type") if isinstance(one, dict) else None
        if isinstance(name, str) and name in _IDENTIFIERS:
            kind, longest = _IDENTIFIERS[name]
            found.append((kind, _typed(one, "value", longest)))
    return found


def _names(body: Body) -> dict[str, str]:
    given = _mapping(body, "identify")
    columns = (("first_name", "firstName"), ("last_name", "lastName"))
    return {column: value for column, name in columns if (value := _typed(given, name, 120))}


def _money(body: Body) -> tuple[Decimal | None, str | None]:
    amount, currency = body.get("valueAmount"), _optional(body, "currency", 3)
    if amount is None or (isinstance(amount, str) and not amount.strip()):
        return None, None
    try:
        text = str(amount).strip()
        if isinstance(amount, bool) or not _AMOUNT.fullmatch(text):
            raise InvalidOperation
        value = Decimal(text).quantize(CENTS)
    except InvalidOperation:
        raise errors.VALIDATION_ERROR("valueAmount: is no amount.") from None
    if not 0 <= value < LARGEST:
        raise errors.VALIDATION_ERROR("valueAmount: is negative or too large.")
    if currency is None or currency.upper() not in currency_digits():
        raise errors.VALIDATION_ERROR("currency: must be the ISO 4217 code of valueAmount.")
    return value, currency.upper()


def _consent(given: Any) -> bool | None:
    """Whether ads may be told of the person; None when nobody was asked. An answer that is not understood is a no."""
    if given is not None and not isinstance(given, (dict, str, int, float)):
        raise errors.VALIDATION_ERROR("consent: must be a map of answers, true or false, or a word for it.")
    answers = {_answer(given.get(name)) for name in _MARKETING} if isinstance(given, dict) else {_answer(given)}
    return False if False in answers else True if True in answers else None


def _answer(given: Any) -> bool | None:
    word = given.strip().lower() if isinstance(given, str) else given
    if word is None or word == "":
        return None
    # read as no answer, a refusal in other words would let the person be exported; refused, the visit would be lost
    return isinstance(word, (str, int, float)) and word in _GRANTED


def _raw(body: Body) -> dict[str, Any]:
    """What has no place of its own, as it came; only that it was there when that is too much."""
    rest = {name: value for name, value in body.items() if name not in _PLACED}
    try:
        written = orjson.dumps(rest)
    except TypeError:
        # a number of more than 64 bits, or half of a surrogate pair: no reason to lose what stands beside it
        written = json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
    return rest if len(written) <= MOST_RAW else {"too_large": True}
