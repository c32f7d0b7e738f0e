"""One profile with a destination at the sandbox's pixel, and a snapshot whose conversions a test chooses."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from api import db
from api.exports import matching, sending
from api.models import Connection, ExportDestination, ExportRow, Profile
from api.snapshot import snapshots
from api.warehouse_ids import identifier_id, uuid_v8
from tests.factories import accounts, connected, exports, served
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings

HASH = hashlib.sha256(b"ann@example.com").hexdigest()


@dataclass
class Exporting:
    """What a test does: publish, match, send, and look at the ledger."""

    settings: Settings
    profile: Profile
    destination: ExportDestination
    connection: Connection
    sandbox: RunningSandbox
    token: int = 0
    # more profiles that a snapshot knows, from profile key 2 on
    beside: list[Profile] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.settings.operational_url

    def publish(
        self,
        *conversions: dict[str, Any],
        other_names: Mapping[str, str] | None = None,
        clicks: Iterable[tuple[int, str, int]] = (),
        **person: Any,
    ) -> None:
        """A snapshot with these conversions of one person, who has an e-mail address unless `person` says otherwise.

        `other_names` gives the payment that each of them names; a click is told by its conversion's key and its second.
        """
        facts = {"time_zone": "UTC", "currency": "EUR", "currency_digits": 2, "settings_version": "v"}
        profiles = [
            {"profile_key": key, "profile_id": one.id, **facts}
            for key, one in enumerate((self.profile, *self.beside), start=1)
        ]
        known = {"profile_key": 1, "person_key": 1, "email_sha256": HASH, "is_refused": False, **person}
        named = {"profile_key": 1, "person_key": 1, "person_ref": uuid_v8(self.profile.id, "person", "ann")}
        named |= {"alias_ref": named["person_ref"], "identifier_id": self.identifier}
        tables = {
            "payment_names": [
                {"profile_key": 1, "payment_ref": payment, "name": name}
                for name, payment in (other_names or {}).items()
            ],
            **{"profiles": profiles, "conversions": conversions, "match_keys": [known]},
            "conversion_clicks": [
                {"profile_key": 1, "conversion_key": key, "person_key": 1, "fbclid": click, "clicked_s": at}
                for key, click, at in clicks
            ],
            "person_identifiers": [named],
        }
        self.token += 1
        served.publish(self.settings.published, tables, token=self.token)

    @property
    def identifier(self) -> str:
        """The one identifier that the person has."""
        return identifier_id(self.profile.id, "email", "ann@example.com")

    def conversion(self, name: str, *, hours_ago: float = 1, **more: Any) -> dict[str, Any]:
        """A payment of 12.50."""
        at = db.now() - timedelta(hours=hours_ago)
        row: dict[str, Any] = {
            "profile_key": 1,
            "person_key": 1,
            "conversion_id": self.id_of(name),
            "conversion_ref": name,
            "source": "payments",
        }
        row |= {"conversion_type": "payment_received", "is_cash": True, "cash_minor": 1250, "day": at.date()}
        return {**row, "ts": int(at.timestamp()), "occurred_at": at.replace(tzinfo=None), **more}

    def id_of(self, name: str) -> str:
        return uuid_v8(self.profile.id, "conversion", name)

    def match(self) -> int:
        return matching.match_all(self.settings)

    def send(self) -> int:
        return sending.send_due(self.settings)

    def ledger(self) -> dict[str, tuple[str, str | None]]:
        """(status, reason) by conversion id."""
        return {row.conversion_id: (row.status, row.reason) for row in self.rows()}

    def outcome(self, *conversions: dict[str, Any], **person: Any) -> tuple[str, str | None]:
        """What a snapshot of one conversion leads to."""
        self.publish(*conversions, **person)
        self.match()
        (found,) = self.ledger().values()
        return found

    def rows(self) -> list[ExportRow]:
        return exports.rows(self.url)

    def change(self, model: type[Any], key: Any, **columns: Any) -> None:
        with db.transaction(self.url) as session:
            found = session.get_one(model, key)
            for name, value in columns.items():
                setattr(found, name, value)

    def health(self) -> ExportDestination:
        with db.transaction(self.url) as session:
            return session.get_one(ExportDestination, self.destination.id)


@pytest.fixture
def profile(sqlite_url: str) -> Profile:
    return accounts.profile(sqlite_url, currency="EUR")


@pytest.fixture
def exporting(settings: Settings, profile: Profile, sandbox: RunningSandbox) -> Iterator[Exporting]:
    url = settings.operational_url
    via = connected.to_meta(url, profile, sandbox.url)
    sandbox.demand_secret()
    yield Exporting(settings, profile, exports.destination(url, profile, via, target=sandbox.pixel_id()), via, sandbox)
    snapshots(settings).close()
