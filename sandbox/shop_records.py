"""The demo world in the shapes in which a shop sends its data: its site's events, its CRM's export, daily rates."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from sandbox.ad_catalogue import SHOP_HOST
from sandbox.clock import rfc3339
from sandbox.money import Payment, decimal_amount
from sandbox.people import Known, Outcome, Touch
from sandbox.world import World

Record = dict[str, Any]
AD = ("ad_platform", "ad_id", "ad_set_id", "campaign_id")
CLICK = ("click_id_type", "click_id")
DEALS = "conversions/crm-deals.jsonl.gz"
# what the shop's server learns of a payment, it learns some seconds after the processor
REPORT_DELAY = 7


def events(world: World) -> dict[str, list[Record]]:
    """What the site, the chat inbox and the server send as it happens, by inbound set."""
    live = [row for row in world.outcomes if row.source != "crm"]
    reported = [row for row in world.payments if row.reported and row.status == "captured"]
    return {
        "touches": [_touch(row) for row in world.touches if row.via == "web"],
        "ad_referrals": [_referral(row) for row in world.touches if row.via == "referral"],
        "conversions": [*(_conversion(row) for row in live), *(_payment(row) for row in reported)],
        "identities": [
            {
                "kind_a": row.kind_a,
                "value_a": row.value_a,
                "kind_b": row.kind_b,
                "value_b": row.value_b,
                "observed_at": rfc3339(row.at),
            }
            for row in world.links
        ],
    }


def files(world: World) -> dict[str, bytes]:
    """What lies in folders, by path under the profile's inbox (`_shared/` where no profile owns it)."""
    return {
        DEALS: packed(_deals(world)),
        "people/crm-contacts.csv": _csv(_contacts(world)),
        "_shared/fx_rates/reference-rates.csv": _csv(_rates(world)),
    }


def mark(world: World) -> str:
    """16 hexadecimal digits that differ where a world's shop sent, sold or advertised otherwise."""
    seen = list(world.delivery_seen(None, world.first_day, world.today))
    exported = [*_deals(world), *_contacts(world), *_rates(world)]
    told = [events(world), exported, world.orders, world.payments, seen]
    return hashlib.sha256(orjson.dumps(told, default=str)).hexdigest()[:16]


def _deals(world: World) -> list[Record]:
    return [_conversion(row) for row in world.outcomes if row.source == "crm"]


def _given(**columns: Any) -> Record:
    return {name: value for name, value in columns.items() if value is not None}


def _person(known: Known) -> Record:
    return _given(**{name: getattr(known, name) for name in Known.__slots__})


def _touch(row: Touch) -> Record:
    return _given(
        touch_key=row.key,
        occurred_at=rfc3339(row.at, row.millisecond),
        channel=row.channel,
        origin=row.origin,
        is_direct=row.is_direct,
        is_paid=row.is_paid,
        utm_source=row.utm_source,
        utm_medium=row.utm_medium,
        utm_campaign=row.utm_campaign,
        referrer_host=row.referrer_host,
        landing_host=SHOP_HOST,
        session_id=row.session_id,
        country=row.country,
        **{name: getattr(row, name) for name in AD + CLICK},
        **_person(row.known),
    )


def _referral(row: Touch) -> Record:
    return _given(
        referral_id=row.key,
        conversation_id=row.conversation_id,
        channel=row.channel,
        occurred_at=rfc3339(row.at),
        ad_platform=row.ad_platform,
        ad_id=row.ad_id,
        seen_live=row.seen_live,
        **_person(row.known),
    )


def _conversion(row: Outcome) -> Record:
    money: Record = {}
    if row.value_minor is not None and row.currency is not None:
        money = {"value": str(decimal_amount(row.value_minor, row.currency)), "currency": row.currency}
    carried: Record = {}
    if row.carries is not None:
        carried = {name: getattr(row.carries, name) for name in AD + CLICK}
        carried["touch_at"] = rfc3339(row.carries.at) if row.names_click_time else None
    return _given(
        conversion_key=row.key,
        occurred_at=rfc3339(row.at),
        conversion_type=row.type,
        source=row.source,
        conversation_id=row.conversation_id,
        **money,
        **carried,
        **_person(row.known),
    )


def _payment(row: Payment) -> Record:
    return _given(
        conversion_key=f"evt_{row.intent_id}",
        occurred_at=rfc3339(row.at + REPORT_DELAY),
        conversion_type="payment_received",
        source="server_event",
        value=str(decimal_amount(row.amount_minor, row.currency)),
        currency=row.currency,
        payment_ref=f"stripe:{row.intent_id}",
        **_person(row.known),
    )


def _contacts(world: World) -> Iterator[Record]:
    met = {row.person: row.at for row in reversed(world.outcomes) if row.known.external_id is not None}
    for person in world.people:
        if person.index in met:
            yield {
                "person_key": f"contact:{person.external_id}",
                "first_name": person.first_name,
                "last_name": person.last_name,
                "email": person.email,
                "phone": person.phone,
                "external_id": person.external_id,
                "created_at": rfc3339(met[person.index]),
                "marketing_consent": "true" if person.index % 3 else "false",
            }


def _rates(world: World) -> Iterator[Record]:
    for row in world.rates:
        yield {
            "rate_date": row.day.isoformat(),
            "base": row.base,
            "quote": row.quote,
            "rate": str(row.rate),
            "source": "reference rates of the demo's central bank",
        }


def _csv(rows: Iterable[Mapping[str, Any]]) -> bytes:
    found = list(rows)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(found[0]) if found else [], lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue().encode()


def packed(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Rows as compressed lines of JSON."""
    text = "".join(f"{json.dumps(row, sort_keys=True)}\n" for row in rows)
    # no time in the header: the same rows are the same bytes, and the same bytes are one import
    return gzip.compress(text.encode(), mtime=0)
