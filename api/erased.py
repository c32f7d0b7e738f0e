"""How an erased person is renamed: every trace gets a random name, and the shape of what happened stays.

A name is an HMAC under a secret of the erasure, so that each row, file and table that mentions the same identifier gets
the same name while the secret lives, and nobody can tell whose it was once it is destroyed. Since equal stays equal and
different stays different, credit, counts and everybody else's people come out as before.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from api.warehouse_ids import identifier_id
from data_contracts.formats import FORMATS, Refused
from data_contracts.normal_form import nfc

IDENTIFIERS = ("person_key", "external_id", "payment_customer_id", "email", "phone", "anonymous_id")
# what ties rows of one person together and came from that person's browser or conversation
LINKS = ("click_id", "session_id", "conversation_id")
# columns that name a payment, and what stands before that in the name it goes by
PAYMENTS = {"payment_ref": "", "refunds_payment_ref": "", "order_ref": "order:", "order_id": "store:"}
FREE = ("first_name", "last_name", "answer_text")
# holds the id of an identifier instead of the identifier
BY_ID = "linked_identifier_id"
# ids of the advertiser's, not of a person; a long number may by chance be both
ENTITIES = frozenset({"ad_platform", "ad_id", "ad_set_id", "campaign_id", "currency", "kind_a", "kind_b"})
# shorter texts are told from other texts only where a column says what they are
TELLING = 8
# signs of one pattern that Arrow is given: it refuses some of a hundred thousand
MOST_SIGNS = 20_000
# no column has a form for values nested deeper, or nested at all
DEEPEST = 100
# a letter that belongs to the sign before it, and not to an address that follows
ESCAPED = re.compile(r"(?:%[0-9a-f]{2}|\\[bfnrt])\Z", re.IGNORECASE)
UNRESERVED = "-._~"
RENAMED = re.compile(r"erased-[0-9a-f]{32}|[0-9a-f]{32}@erased\.example|\+883519[0-9]{9}")


def digest(key: bytes, identifier: str) -> str:
    """The keyed hash under which an identifier (`identifier_id`) is refused for ever."""
    return hmac.new(key, b"erased\0" + identifier.encode(), hashlib.sha256).hexdigest()


def normal(kind: str, value: object) -> str | None:
    """An identifier as the lake keeps it; None for what is no identifier at all."""
    text = nfc(str(value)).strip() if value is not None else ""
    if not text:
        return None
    try:
        return FORMATS[kind](text) if kind in FORMATS else text
    except Refused:
        return text.lower()


def identifiers(record: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(column, kind, normal value) of every identifier that a record of any set names."""
    for kind in IDENTIFIERS:
        value = normal(kind, record.get(kind))
        if value is not None:
            yield kind, kind, value
    for side in ("a", "b"):
        kind, column = str(record.get(f"kind_{side}")), f"value_{side}"
        value = normal(kind, record.get(column))
        if value is not None:
            yield column, kind, value


@dataclass
class Person:
    """Somebody to be erased: the ids of the identifiers, those of them that nobody else uses, and what to rename.

    `links` holds values of the columns `LINKS`; `texts` are lower-case texts that tell the person wherever they stand;
    `spelt` are the same as they were told, since what is spelt otherwise may be another key; `names` are the (kind,
    random name) pairs given so far; `moved` are the ids of random names by the id they replace; `payments` are the
    names of the person's payments.
    """

    profile_id: str
    secret: bytes
    ids: frozenset[str]
    own: frozenset[str] = frozenset()
    links: dict[str, set[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    spelt: dict[str, str] = field(default_factory=dict)
    names: set[tuple[str, str]] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)
    payments: set[str] = field(default_factory=set)
    _pattern: re.Pattern[str] | None = None
    _parts: list[str] = field(default_factory=list)

    def owns(self, kind: str, value: str) -> bool:
        """Whether the identifier is the person's."""
        return bool(RENAMED.fullmatch(value)) or identifier_id(self.profile_id, kind, value) in self.ids

    def speaks(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is about the person, and not about somebody who shares a device or an inbox."""
        named = [identifier_id(self.profile_id, kind, value) for _, kind, value in identifiers(record)]
        return not self.own.isdisjoint(named) or (bool(named) and self.ids.issuperset(named))

    def name(self, kind: str, value: str) -> str:
        """The random name of a value of that kind, in the form its column asks for."""
        if RENAMED.fullmatch(value):
            return value
        mac = hmac.new(self.secret, f"{kind}\0{value}".encode(), hashlib.sha256).hexdigest()
        if kind == "email":
            return f"{mac[:32]}@erased.example"
        if kind == "phone":
            return f"+883519{int(mac, 16) % 10**9:09d}"
        return f"erased-{mac[:32]}"

    def learn(self, kind: str, value: str) -> None:
        """Rename this text wherever it stands, if it is long enough to tell the person by itself."""
        if len(value) < TELLING or RENAMED.fullmatch(value):
            return
        self._pattern, self._parts = None, []
        told = {value: self.name(kind, value)}
        if kind == "phone":
            told[value.removeprefix("+")] = told[value].removeprefix("+")
        self.spelt |= told
        self.texts |= {text.lower(): name for text, name in told.items()}

    def move(self, kind: str, value: str) -> None:
        """Let what names the identifier by its id follow its random name."""
        name = identifier_id(self.profile_id, kind, self.name(kind, value))
        self.moved[identifier_id(self.profile_id, kind, value)] = name

    def read(self, record: Mapping[str, Any]) -> None:
        """Learn from any record: the person's identifiers that it names, and what ties it to others if it is theirs."""
        for _, kind, value in identifiers(record):
            if self.owns(kind, value):
                self.learn(kind, value)
        if self.speaks(record):
            self.follow(record)

    def follow(self, record: Mapping[str, Any]) -> None:
        """Learn from a record about the person the values that tie it to other records, and what is paid in it."""
        self.payments |= {f"{prefix}{record[column]}" for column, prefix in PAYMENTS.items() if record.get(column)}
        for column in LINKS:
            linked = str(record.get(column) or "").strip()
            if linked and not RENAMED.fullmatch(linked):
                self.links.setdefault(column, set()).add(linked)
                self.learn(column, linked)

    def renamed(self, record: Mapping[str, Any], known: Collection[str] | None = None) -> dict[str, Any]:
        """The record without the person: names, free text and unknown columns empty, everything else renamed.

        `known` are the columns of its contract; others are emptied in records about the person, which a record is too
        where one of those others names the person: a file may call its columns what it likes.
        """
        out, others = dict(record), set()
        about = self.speaks(record) or (known is not None and self._is_named_beside(record, known))
        for column, kind, value in identifiers(record):
            if self.owns(kind, value):
                out[column] = self.name(kind, value)
                self.names.add((kind, out[column]))
            elif _is_address(kind, value):
                # somebody else's, which may hold the person's as joann@ holds ann@
                others.add(column)
        return {
            column: None
            if about and _is_free(column, known)
            else value
            if column in others
            else self._other(column, value, own=about)
            for column, value in out.items()
        }

    def _is_named_beside(self, record: Mapping[str, Any], known: Collection[str]) -> bool:
        beside = {name: value for name, value in record.items() if _is_unknown(name, known)}
        return any(self._other(name, value, own=False) != value for name, value in beside.items())

    def _other(self, column: str, value: Any, *, own: bool, depth: int = 0) -> Any:
        if depth > DEEPEST:
            return None
        inside = partial(self._other, column, own=own, depth=depth + 1)
        if isinstance(value, Mapping):
            return {self.text(str(name), own=own): inside(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(inside(inner) for inner in value)
        if not isinstance(value, str) or column in ENTITIES:
            return value
        if column == BY_ID:
            return self.moved.get(value, value)
        if column in LINKS and value.strip() in self.links.get(column, ()):
            return self.name(column, value.strip())
        return self.text(value, own=own)

    def renamed_ids(self) -> frozenset[str]:
        """Ids of the random names given to identifiers so far."""
        return frozenset(identifier_id(self.profile_id, kind, name) for kind, name in self.names)

    def text(self, value: str, *, own: bool = False) -> str:
        """The text with every telling part renamed, percent-encoded ones too.

        In the person's own records also what is a part of a longer word; in others that is somebody else's address.
        """
        if not self.texts or not (pattern := self.pattern).search(value):
            return value
        return pattern.sub(partial(self._fresh, own=own), value)

    def _fresh(self, found: re.Match[str], *, own: bool) -> str:
        told = found[0]
        while told.lower() not in self.texts and (plain := unquote(told)) != told:
            told = plain
        name = self.spelt.get(told) or self._spelt_otherwise(told)
        if not own and not _stands_alone(found, name):
            return found[0]
        return name if told == found[0] else quote(name, safe="")

    def _spelt_otherwise(self, told: str) -> str:
        # letters that only the pattern takes for equal, as a long s for an s, spell no text that was learnt
        learnt = self.texts.get(told.lower(), "")
        return self.name("email" if "@" in learnt else "text", told)

    @property
    def pattern(self) -> re.Pattern[str]:
        """Finds every telling text, also within longer words; longer ones first, so that none is cut by a part."""
        if self._pattern is None:
            longest = sorted(self.texts, key=lambda text: (-len(text), text))
            self._pattern = re.compile("|".join(map(_sought, longest)) or r"(?!)", re.IGNORECASE)
        return self._pattern

    @property
    def parts(self) -> list[str]:
        """What `pattern` finds, in patterns for Arrow, of which none is too long and none looks ahead or behind."""
        if not self._parts:
            self._parts = list(_joined(map(_sought, self.texts)))
        return self._parts


def _joined(patterns: Iterable[str]) -> Iterator[str]:
    some: list[str] = []
    for pattern in patterns:
        if some and sum(map(len, some)) + len(pattern) > MOST_SIGNS:
            yield "|".join(some)
            some = []
        some.append(pattern)
    if some:
        yield "|".join(some)


def _sought(text: str) -> str:
    """The pattern of a text whose signs may be percent-encoded, once or more often."""
    return "".join(map(_sign, text))


def _sign(sign: str) -> str:
    cases = sorted(one for one in {sign, sign.upper()} if len(one) == 1)
    # four signs need no encoding and are encoded by some all the same
    encoded = [f"%{ord(sign):02X}"] if sign in UNRESERVED else [quote(one, "", errors="surrogatepass") for one in cases]
    either = f"(?:{re.escape(sign)}|{'|'.join(encoded).replace('%', '%(?:25)*')})"
    return re.escape(sign) if sign in encoded else either


def _stands_alone(found: re.Match[str], name: str) -> bool:
    """Whether an address or number that was found is no part of a longer one; other names may stand anywhere."""
    if name.startswith("erased-"):
        return True
    before, after = found.string[max(0, found.start() - 3) : found.start()], found.string[found.end() :][:1]
    goes_on = str.isalnum if "@" in name else str.isdigit
    return not (goes_on(before[-1:]) and not ESCAPED.search(before)) and not goes_on(after)


def _is_address(kind: str, value: str) -> bool:
    try:
        return kind in {"email", "phone"} and bool(FORMATS[kind](value))
    except Refused:
        return False


def _is_free(column: str, known: Collection[str] | None) -> bool:
    if column in FREE or column.startswith("x_") or column == "_extra":
        return True
    return known is not None and _is_unknown(column, known)


def _is_unknown(column: str, known: Collection[str]) -> bool:
    return column not in known and not column.startswith(("_", "x_"))


def stripped(record: Mapping[str, Any], refused: Collection[str], *, key: bytes) -> dict[str, Any]:
    """A record at the door, whose columns `refused` name somebody erased: without them and without free text.

    Where else they stand in it, as in its key, they get a name under the deployment's `key`: the same one each time
    that the record comes. One that is nothing but a statement about the person lacks what its contract requires then,
    and is rejected.
    """
    gone = {*refused, "value_a", "value_b"} if "value_a" in record else set(refused)
    someone = Person("", hmac.digest(key, b"sent again", "sha256"), frozenset())
    for column, kind, value in identifiers(record):
        if column in refused:
            someone.learn(kind, value)
    left = {name: None if name in gone or _is_free(name, None) else value for name, value in record.items()}
    return someone.renamed(left)
