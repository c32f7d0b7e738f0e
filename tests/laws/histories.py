"""Histories that change from day to day: records of every set come, change, are withdrawn, go and come again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from api.warehouse_ids import identifier_id
from data_contracts.contract import Column, load
from data_contracts.judge import judge
from orchestration.app_sets import land_calendar
from orchestration.lake import Lake
from orchestration.landed_facts import META_KEY, Facts, read_facts
from tests.laws.landing import profile_id, raw_path, raw_table

START = datetime(2026, 2, 20, tzinfo=UTC)
DAYS = 50
LOADED = START + timedelta(days=DAYS)
ZONES = ("UTC", "America/New_York", "Asia/Tokyo")
# how many records of a set a profile ever has; a set that is not named here is landed as it always is
SIZES = {
    "touches": 60, "conversions": 45, "page_events": 40, "ad_delivery": 30, "order_lines": 16, "orders": 12,
    "identities": 12, "people": 10, "ad_referrals": 8, "ads": 8, "ad_sets": 4, "campaigns": 3, "recurring_payments": 5,
    "payment_payers": 3, "goals": 2, "goal_events": 4, "own_hosts": 1, "creatives": 4, "entity_reach": 6,
    "ad_accounts": 1, "ad_delivery_breakdowns": 20, "products": 4, "variants": 5, "experiments": 3,
    "experiment_arms": 6, "creative_attributes": 3, "personal_names": 14,
}  # fmt: skip
HANDED_OVER = {"page_events", "payment_payers", "goals", "goal_events", "own_hosts", "creative_attributes"}
WHOLE_AGAIN = {0, 1}
PRESENT, CHANGED, SETTLED = 0.8, 0.05, 0.08
# landings of the calendars have lower numbers
FIRST_LANDING = 1_000
# files of which a purge takes some rows each day: of the sets whose files a build follows, and of any
PURGED = {"[tc]o*": 2, "*": 3}
PAYMENTS = [f"x:{n}" for n in range(12)]
IDENTIFIERS = {
    "person_key": [*(f"p{n}" for n in range(26)), "P1", "p:1", "Ö 1", "p\u200b1"],
    "anonymous_id": [*(f"b{n}" for n in range(38)), "b|1", "b\u001f1"],
    "email": [*(f"m{n}@example.com" for n in range(22)), "M1@Example.COM", "m+1@example.com", "ö@example.com"],
    "phone": [f"+12025550{n:03}" for n in range(100, 115)],
    "external_id": [*(f"e{n}" for n in range(10)), "0", "00"],
    "payment_customer_id": [f"c{n}" for n in range(8)],
}
VALUES: dict[str, list[Any]] = {
    **IDENTIFIERS,
    "channel": ["web", "web", "chatapp", "social", "other"],
    "origin": ["web", "web", "partner_ad_referral", "other"],
    "ad_platform": ["meta", "meta", "google"],
    "platform": ["meta", "meta", "google"],
    "ad_id": [f"a{n}" for n in range(8)],
    "ad_set_id": [f"s{n}" for n in range(4)],
    "campaign_id": [f"g{n}" for n in range(3)],
    "creative_id": [f"v{n}" for n in range(4)],
    "ad_account_id": ["act"],
    "timezone": [*ZONES],
    "product_id": [f"t{n}" for n in range(4)],
    "variant_id": [f"w{n}" for n in range(5)],
    "platform_study_id": [f"study{n}" for n in range(3)],
    "dimension": ["geo", "placement", "audience"],
    "click_id_type": ["fbclid", "gclid", "ttclid"],
    "click_id": [f"K{n}" for n in range(6)],
    "utm_source": ["meta", "google", "news", "Meta", "ｍeta"],
    "utm_medium": ["cpc", "email", "Organic", "CPC", " cpc"],
    "utm_campaign": ["g0", "g1", "spring", "Été", "ete", "a|b", "a\u001fb", "100%", "x_y", "👟", "'); --"],
    "utm_id": ["g0", "a1"],
    "referrer_host": ["news.example", "shop.example", "www.google.com", "WWW.Google.com", "m.facebook.com"],
    "landing_host": ["shop.example"],
    "page_host": ["shop.example", "blog.example"],
    "host": ["shop.example", "news.example"],
    "session_id": [f"visit{n}" for n in range(10)],
    "conversation_id": [f"talk{n}" for n in range(6)],
    "country": ["US", "DE"],
    "device": ["mobile", "desktop"],
    "conversion_type": [
        "lead_created", "appointment_booked", "closed_won", "payment_received", "payment_received", "payment_received",
        "refund_issued", "order_placed", "unmapped_event", "dm_started",
    ],
    "event_name": ["trial_start", "trial_end", "page_view", "page_view"],
    "event_origin": ["server", "browser"],
    "value": ["10.00", "7.77", "0.01", "100", "3.33", "0", "0.005", "1234567.8912"],
    "currency": ["USD", "USD", "EUR"],
    "payment_ref": PAYMENTS,
    "first_payment_ref": PAYMENTS,
    "refunds_payment_ref": PAYMENTS,
    "payment_status": ["captured", "captured", "captured", "authorized", "failed"],
    "refund_kind": ["refund", "dispute_lost"],
    "order_ref": [f"O{n}" for n in range(8)],
    "order_id": [f"o{n}" for n in range(12)],
    "subscription_ref": ["sub0", "sub1"],
    "billing_reason": ["create", "cycle", "cycle"],
    "source": ["server_event", "payments", "store", "crm", "file", "tracker"],
    "connection_ref": ["shop"],
    "financial_status": ["paid", "paid", "pending", "partially_refunded", "voided"],
    "confidence": ["certain", "certain", "typed"],
    "conversion_key": ["trial"],
    "revenue_type": ["cash", "pipeline", "gross"],
    "format": ["video", "image"],
    "level": ["ad", "campaign"],
    "first_name": ["An", "Bo", "Cy"],
    "entity_id": ["a0", "a1", "g0"],
    "status": ["ACTIVE", "PAUSED"],
    "objective_group": ["sales", "leads", "messaging"],
    "audience_warmth": ["cold", "hot"],
}  # fmt: skip
PAIRED = ("email", "phone", "person_key", "email")
# of a column that need not be told, how often it is
TOLD = {"person_key": 0.35, "anonymous_id": 0.45, "email": 0.25, "session_id": 0.4, "is_direct": 0.3, "value": 0.8,
        "currency": 0.9, "payment_ref": 0.7, "source": 0.6, "updated_at": 0.4, "touch_at": 0.15, "ad_id": 0.4,
        "event_name": 0.6, "refunds_payment_ref": 0.5, "linked_identifier_id": 0.2}  # fmt: skip
SELDOM = 0.2


Key = tuple[str, int, int]
Owned = list[tuple[str | None, Mapping[str, Any]]]


class History:
    """What the profiles of one seed say on each day in turn.

    A record that changes comes in the file of its day, and one that goes is withdrawn there; profiles of WHOLE_AGAIN
    and sets that the service hands over say all again instead, and a purge takes some rows out of files of any day.
    """

    def __init__(self, seed: int, profiles: int, changed: float = CHANGED) -> None:
        self.seed, self.profiles, self.changed, self.day = seed, profiles, changed, 0
        self.chance = Random(seed)
        # of every record the number of its version; a record that is not said has none
        self.said: dict[Key, int | None] = {}
        self.settings = [0] * profiles
        self.rates = [0] * DAYS
        for profile in range(profiles):
            for dataset, size in SIZES.items():
                for number in range(size):
                    self.said[dataset, profile, number] = 0 if self.chance.random() < PRESENT else None
        self.stirred = {key for key, version in self.said.items() if version is not None}

    def another_day(self) -> None:
        """Change some of what is said: more of some profiles than of others, and of some nothing."""
        chance = self.chance
        self.day += 1
        shares = [chance.choice((0, 0.2, 1, 1, 3)) * self.changed for _ in range(self.profiles)]
        self.stirred = {key for key in self.said if chance.random() < shares[key[1]]}
        for key in sorted(self.stirred):
            goes = self.said[key] is not None and chance.random() > PRESENT
            self.said[key] = None if goes else self.day
        self.settings = [self.day if chance.random() < SETTLED else one for one in self.settings]
        self.rates = [self.day if chance.random() < self.changed / 10 else one for one in self.rates]

    def land(self, lake: Lake) -> None:
        """Write what the day says."""
        if not self.day:
            lake.prepare()
            for zone in ZONES:
                land_calendar(lake, zone)
        told: dict[str, Owned] = {
            "profiles": [(None, self._profile(n, changed)) for n, changed in enumerate(self.settings)],
            "fx_rates": [(None, self._rate(n, changed)) for n, changed in enumerate(self.rates)],
        }
        files: dict[tuple[str, str], Owned] = {(dataset, "all"): owned for dataset, owned in told.items()}
        stirred = {key[:2] for key in self.stirred}
        for key, version in self.said.items():
            dataset, profile, _ = key
            owner = None if dataset in HANDED_OVER else profile_id(profile)
            if dataset in HANDED_OVER or profile in WHOLE_AGAIN:
                if (dataset, profile) in stirred:
                    file = files.setdefault((dataset, f"profile{profile}"), [])
                    file.extend([(owner, self._record(key, version))] if version is not None else [])
            elif key in self.stirred:
                files.setdefault((dataset, f"day{self.day}"), []).append((owner, self._record(key, version)))
        for number, ((dataset, batch), owned) in enumerate(files.items()):
            loaded_at = LOADED + timedelta(days=self.day, seconds=number)
            _write(lake, dataset, batch, FIRST_LANDING * (self.day + 1) + number, owned, loaded_at)
        if self.day:
            for datasets, count in PURGED.items():
                for path in self.chance.sample(sorted(lake.root.glob(f"raw/{datasets}/_shared/laws/*.parquet")), count):
                    self._purge(path)

    def _purge(self, path: Path) -> None:
        """Write a file in its place without some of its rows, as a purge does."""
        table = pq.read_table(path, partitioning=None)
        table = table.filter(pa.array([self.chance.random() < PRESENT for _ in range(table.num_rows)], pa.bool_()))
        facts = replace(read_facts(path), rows_loaded=table.num_rows)
        pq.write_table(table.replace_schema_metadata({META_KEY: json.dumps(asdict(facts))}), path)

    def _profile(self, number: int, changed: int) -> dict[str, Any]:
        chance = Random(f"{self.seed} settings {number} {changed}")
        currency, digits = chance.choice((("USD", 2), ("EUR", 2), ("JPY", 0)))
        return {
            "profile_id": profile_id(number), "time_zone": chance.choice(ZONES), "currency": currency,
            "currency_digits": digits, "lookback_days": chance.choice((7, 30)), "half_life_days": chance.choice((1, 7)),
            "inherit_recurring": chance.random() < 0.7, "settings_version": str(changed),
            "is_active": chance.random() < 0.9,
        }  # fmt: skip

    def _rate(self, number: int, changed: int) -> dict[str, Any]:
        quote, rate = ("USD", f"1.{changed + 10}") if number % 2 else ("JPY", f"16{changed}")
        return {"rate_date": _day(number), "base": "EUR", "quote": quote, "rate": rate}

    def _record(self, key: Key, version: int | None) -> dict[str, Any]:
        """The key of a record never changes; all else is drawn anew for each version. One that goes is withdrawn."""
        dataset, profile, number = key
        name = f"{self.seed} {dataset} {profile} {number}"
        keys, chance = Random(name), Random(f"{name} {version}")
        record = {
            column.name: _value(dataset, column, profile, number, chance if column.key_position is None else keys)
            for column in load(dataset).columns
            if column.key_position or column.required or chance.random() < TOLD.get(column.name, SELDOM)
        }
        if dataset in HANDED_OVER:
            return {**record, "profile_id": profile_id(profile)}
        return {**record, "_deleted": True} if version is None else record


def _value(dataset: str, column: Column, profile: int, number: int, chance: Random) -> Any:
    name, kind = column.name, column.kind
    if name in ("kind_a", "kind_b"):
        # of both sides of one pair
        return ("anonymous_id", PAIRED[number % len(PAIRED)])[name == "kind_b"]
    if name == "value_a":
        return _one(IDENTIFIERS["anonymous_id"], chance)
    if name == "value_b":
        return _one(IDENTIFIERS[PAIRED[number % len(PAIRED)]], chance)
    if name in ("linked_identifier_id", "identifier_id"):
        of = chance.choice(("email", "anonymous_id", "person_key"))
        return identifier_id(profile_id(profile), of, _one(IDENTIFIERS[of], chance))
    if column.allowed:
        return _one([value for value in VALUES.get(name, ()) if value in column.allowed] or [*column.allowed], chance)
    if name in VALUES and not (dataset == "conversions" and name == "conversion_key"):
        return _one(VALUES[name], chance)
    if kind == "list":
        return ["offer"]
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "timestamp":
        return _moment(chance)
    if kind == "date":
        return _day(chance.randrange(DAYS))
    return str(chance.randrange(1, 400)) if kind != "text" else f"{name}{number}"


def _one(values: list[Any], chance: Random) -> Any:
    # the first ones often, as shared devices and inboxes are
    return values[int(len(values) * chance.random() ** 1.5)]


def _moment(chance: Random) -> str:
    # few moments of a day, so that many records share one
    minutes = 20 * chance.randrange(6) + chance.choice((0, 0, 0, 1, 29))
    at = timedelta(days=chance.randrange(DAYS), hours=chance.choice((3, 12, 23)), minutes=minutes)
    return (START + at).isoformat()


def _day(number: int) -> date:
    return START.date() + timedelta(days=number)


def _write(lake: Lake, dataset: str, batch: str, landing: int, owned: Owned, loaded_at: datetime) -> None:
    """Write the good ones of the records as one raw file, in place of the one of that batch before."""
    contract = load(dataset)
    judged = judge(contract, [record for _, record in owned], now=START + timedelta(days=DAYS))
    table = raw_table(
        contract, judged, [owner for owner, _ in owned], batch=batch, landing=landing, loaded_at=loaded_at
    )
    # a build keeps rows only where files tell their landing
    facts = Facts(landing, len(owned), table.num_rows, 0, "", "", None, None, loaded_at.isoformat())
    pq.write_table(
        table.replace_schema_metadata({META_KEY: json.dumps(asdict(facts))}), raw_path(lake, dataset, batch=batch)
    )
