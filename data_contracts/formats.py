"""Formats of text: e-mail addresses, phones, currencies, countries and time zones in their one normal form."""

from __future__ import annotations

import csv
import re
import zoneinfo
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import phonenumbers
from email_validator import EmailNotValidError, validate_email

CURRENCIES = Path(__file__).resolve().parent.parent / "dbt_project" / "seeds" / "currencies.csv"

LONGEST_LOCAL = 64
MEXICO, OLD_MOBILE = 52, 10**10
BRAZIL, OLD_BRAZILIAN_MOBILE = 55, re.compile("[1-9]{2}[689][0-9]{7}")
# as spreadsheets write a number of more than eleven digits: many ids become one
_ROUNDED = re.compile(r"[0-9](?:[.,][0-9]+)?[eE]\+[0-9]{2,}")
_PLAIN_LOCAL = re.compile(r"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*", re.ASCII)


class Refused(ValueError):
    """A value that its column does not accept; the message is the reason told to the producer."""


@lru_cache(maxsize=1)
def currency_digits() -> Mapping[str, int]:
    """Decimal places of every ISO 4217 currency in use since 2010, by code."""
    return {row["currency"]: int(row["digits"]) for row in _currencies()}


@lru_cache(maxsize=1)
def _current() -> frozenset[str]:
    return frozenset(row["currency"] for row in _currencies() if row["is_current"] == "true")


def _currencies() -> list[dict[str, str]]:
    with CURRENCIES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@lru_cache(maxsize=1)
def time_zones() -> frozenset[str]:
    """The names of all places and offsets of the IANA database."""
    # files beside the zones: whatever the machine is set to, and zones for whoever has set none
    return frozenset(zoneinfo.available_timezones()) - {"localtime", "posixrules", "Factory"}


def email(text: str) -> str:
    """The address in lower case; deliverability is not looked up."""
    local, _, domain = text.lower().rpartition("@")
    # most addresses are of one plain form, of a domain seen before: the full check costs twenty times as much
    if len(local) <= LONGEST_LOCAL and len(domain) <= 128 and domain.isascii() and _PLAIN_LOCAL.fullmatch(local):
        return f"{local}@{_domain(domain)}"
    return _address(text)


def _address(text: str) -> str:
    try:
        return validate_email(text, check_deliverability=False).normalized.lower()
    except EmailNotValidError:
        raise Refused("not an e-mail address") from None


@lru_cache(maxsize=10_000)
def _domain(domain: str) -> str:
    return _address(f"{'x' * LONGEST_LOCAL}@{domain}").rpartition("@")[2]


@lru_cache(maxsize=100_000)
def phone(text: str) -> str:
    """The number as E.164; it must name its country, as `+1 415 555 0100` does."""
    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        raise Refused("not a phone number with its country code") from None
    local = number.national_number or 0
    if number.country_code == MEXICO and OLD_MOBILE <= local < 2 * OLD_MOBILE:
        # its mobiles had a 1 before the ten digits until 2019, and chat apps and older records still write it
        number.national_number = local - OLD_MOBILE
    if number.country_code == BRAZIL and OLD_BRAZILIAN_MOBILE.fullmatch(str(local)):
        # a 9 came before the eight digits of its mobiles by 2016, and the chat app names many people without it still
        number.national_number = int(f"{str(local)[:2]}9{str(local)[2:]}")
    if not phonenumbers.is_possible_number(number):
        raise Refused("not a possible phone number")
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def identifier(text: str) -> str:
    """The id of something or somebody, unless a spreadsheet has rounded it, as `1.20212E+17`."""
    if _ROUNDED.fullmatch(text):
        raise Refused("an id that a spreadsheet has rounded to a number; give it with all its digits, as text")
    return text


def currency(text: str) -> str:
    """An ISO 4217 code, as in `dbt_project/seeds/currencies.csv`."""
    if text not in currency_digits():
        meant = text.upper()
        raise Refused(f"unknown currency; did you mean {meant}?" if meant in currency_digits() else "unknown currency")
    return text


def reporting_currency(text: str) -> str:
    """The same, of a currency that is not over: what was paid in an older one is converted."""
    if currency(text) not in _current():
        raise Refused("a currency that is no longer in use")
    return text


def country(text: str) -> str:
    """An ISO 3166-1 alpha-2 code by its form."""
    if not re.fullmatch("[A-Z]{2}", text):
        raise Refused("not a country code of two capital letters")
    return text


def time_zone(text: str) -> str:
    """A zone of the IANA database."""
    if text not in time_zones():
        raise Refused("unknown time zone")
    return text


FORMATS: Mapping[str, Callable[[str], str]] = {
    "email": email,
    "phone": phone,
    "currency": currency,
    "country": country,
    "time_zone": time_zone,
}
