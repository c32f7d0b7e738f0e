"""Meta's Conversions API: events of a pixel, checked whole before any is taken, and counted once per name and id."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from threading import Lock
from typing import Any

from flask import Blueprint, Flask, Response, request

from sandbox import chatapp, refusals
from sandbox.faults import CONTROL
from sandbox.world import World, WorldHolder

# a chat-app business and a page, which have datasets of their own
MESSAGING = (chatapp.ACCOUNT, "300000000000002")
MOST_EVENTS = 1000
OLDEST_DAYS = 7
ACTION_SOURCES = {
    *("email", "website", "app", "phone_call", "chat", "physical_store", "system_generated", "business_messaging"),
    "other",
}
# members of user_data that are sent as SHA-256 in hexadecimal, in lower case
HASHED = {"em", "ph", "fn", "ln", "ct", "st", "zp", "country", "external_id"}
CLICK = re.compile(r"fb\.[0-9]\.\d{13}\.\S+")
DIGEST = re.compile(r"[0-9a-f]{64}")
_MESSAGING_IDS = ", ".join(f'"{number}"' for number in MESSAGING)
_KNOWN = HASHED | {"fbc", "fbp", "client_ip_address", "client_user_agent", "lead_id", "subscription_id"}


class BadEventError(Exception):
    """Why the whole request is refused."""


class Conversions:
    """What arrived at each pixel since the sandbox started, once per name and id of an event."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._made: dict[str, dict[str, str]] = {}

    def of(self, owner: str) -> dict[str, str]:
        """Names of an ad account's or a messaging account's datasets: the one it always had, then those made."""
        with self._lock:
            return {pixel_of(owner): f"Dataset {pixel_of(owner)}", **self._made.get(owner, {})}

    def make(self, owner: str, name: str) -> str:
        """One more."""
        with self._lock:
            made = self._made.setdefault(owner, {})
            number = str(2 * 10**15 + int(owner) % 10**13 * 10 + len(made))
            made[number] = name
            return number

    def is_known(self, world: World, pixel: str) -> bool:
        owners = {*(account.id for account in world.accounts), *MESSAGING}
        return any(pixel in self.of(owner) for owner in owners)

    def take(self, pixel: str, events: list[dict[str, Any]], *, is_test: bool) -> None:
        """Count events that were found good; one that came before under its name and id is a duplicate."""
        with self._lock:
            taken, counts = self._taken.setdefault(pixel, {}), self._counts.setdefault(pixel, Counter())
            counts["requests"] += 1
            for event in events:
                key = (event["event_name"], str(event.get("event_id") or id(event)))
                counts["tests" if is_test else "duplicates" if key in taken else "received"] += 1
                if not is_test:
                    taken.setdefault(key, event)

    def state(self, pixel: str) -> dict[str, Any]:
        with self._lock:
            counts = {name: self._counts.get(pixel, Counter())[name] for name in _COUNTED}
            return {**counts, "events": list(self._taken.get(pixel, {}).values())}

    def forget(self) -> None:
        with self._lock:
            self._taken, self._counts, self._made = {}, {}, {}


_COUNTED = ("requests", "received", "duplicates", "tests")


def pixel_of(account: str) -> str:
    """The pixel that an ad account has from the beginning."""
    return str(10**15 + int(account) % 10**14)


def routes(face: Blueprint, version: str, holder: WorldHolder, conversions: Conversions) -> None:
    """Add what a pixel answers to the Meta face."""

    def told(owner: str) -> Response:
        if request.method == "POST":
            return refusals.answer({"id": conversions.make(owner, request.form["name"])})
        return refusals.answer({"data": [{"id": one, "name": name} for one, name in conversions.of(owner).items()]})

    @face.route(f"/{version}/act_<account>/adspixels", methods=["GET", "POST"])
    def pixels_of_account(account: str) -> Response:
        return told(account)

    @face.route(f"/{version}/<any({_MESSAGING_IDS}):owner>/dataset", methods=["GET", "POST"])
    def datasets_of_messaging_account(owner: str) -> Response:
        return told(owner)

    @face.post(f"/{version}/<int:pixel>/events")
    def take_events(pixel: int) -> Response:
        if not conversions.is_known(holder.world, str(pixel)):
            return refusals.meta_error(
                100,
                f"Unsupported post request. Object with ID '{pixel}' does not exist or cannot be loaded.",
                subcode=33,
            )
        form: Mapping[str, Any] = request.get_json() if request.is_json else request.form
        try:
            events = checked(form.get("data"))
        except BadEventError as bad:
            return refusals.meta_error(100, f"(#100) Invalid parameter: {bad}", subcode=2804019)
        conversions.take(str(pixel), events, is_test=bool(form.get("test_event_code")))
        return refusals.answer({"events_received": len(events), "messages": [], "fbtrace_id": refusals.TRACE})


def control(app: Flask, conversions: Conversions) -> None:
    """What arrived at a pixel, and a way to begin anew."""

    @app.get(f"{CONTROL}/meta/pixels/<pixel>")
    def arrived(pixel: str) -> dict[str, Any]:
        return conversions.state(pixel)

    @app.delete(f"{CONTROL}/meta/pixels")
    def forget_conversions() -> dict[str, Any]:
        conversions.forget()
        return {}


def checked(given: Any) -> list[dict[str, Any]]:
    """The events of `data`, JSON text or parsed. Raises BadEventError for the first thing Meta would not take."""
    try:
        events = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        raise BadEventError("data is not JSON") from None
    if not isinstance(events, list) or not 0 < len(events) <= MOST_EVENTS:
        raise BadEventError(f"data must hold 1 to {MOST_EVENTS} events")
    for place, event in enumerate(events):
        if not isinstance(event, dict):
            raise BadEventError(f"data[{place}] is not an object")
        _check(event, f"data[{place}]")
    return events


def _check(event: Mapping[str, Any], where: str) -> None:
    if not isinstance(event.get("event_name"), str) or not event["event_name"]:
        raise BadEventError(f"{where}[event_name] is missing")
    at, today = event.get("event_time"), time.time()
    if not isinstance(at, int) or not today - OLDEST_DAYS * 86_400 <= at <= today + 60:
        raise BadEventError(f"{where}[event_time] must lie within the last {OLDEST_DAYS} days")
    if event.get("action_source") not in ACTION_SOURCES:
        raise BadEventError(f"{where}[action_source] is not one of the known ones")
    if event["action_source"] == "website" and not event.get("event_source_url"):
        raise BadEventError(f"{where}[event_source_url] is needed of website events")
    _check_person(event.get("user_data"), where)
    money = event.get("custom_data") or {}
    is_priced = isinstance(money.get("value"), int | float) and re.fullmatch("[A-Za-z]{3}", str(money.get("currency")))
    if (event["event_name"] == "Purchase" or "value" in money) and not is_priced:
        raise BadEventError(f"{where}[custom_data] needs a value with its currency")


def _check_person(person: Any, where: str) -> None:
    if not isinstance(person, dict) or not person:
        raise BadEventError(f"{where}[user_data] holds nothing to find a person by")
    for name, value in person.items():
        if name not in _KNOWN:
            raise BadEventError(f"{where}[user_data][{name}] is not known")
        values = value if isinstance(value, list) else [value]
        if name in HASHED and not (values and all(DIGEST.fullmatch(str(one)) for one in values)):
            raise BadEventError(f"{where}[user_data][{name}] must be SHA-256 in lower-case hexadecimal")
    if "fbc" in person and not CLICK.fullmatch(str(person["fbc"])):
        raise BadEventError(f"{where}[user_data][fbc] is not a click cookie")
