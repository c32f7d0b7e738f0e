"""A shop in which one person left traces through every door, and the search for what is left of a text anywhere."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from api.db import transaction
from api.models import PaymentPayer
from api.v1.events.ingest import accept
from api.warehouse_ids import identifier_id
from orchestration.importer import import_file
from orchestration.lake import Lake
from touchledger.settings import Settings

EMAIL = "Canary.Quillfeather@Zephyrmail.com"
PHONE = "+14155550187"
ADDRESS = {"email": EMAIL, "phone": PHONE}
MARKS = (
    "canary.quillfeather",
    "4155550187",
    "Persephone",
    "Quillfeather",
    "ext-canary-7781",
    "anon-canary-9a7f",
    "key-canary-5521",
    "cus-canary-3310",
    "click-canary-77",
    "session-canary-1",
    "talk-canary-4",
    "note-canary-free",
)
AD = {"ad_platform": "meta", "ad_id": "a1"}


def touch(key: str, at: str, **more: Any) -> dict[str, Any]:
    """One visit to the site."""
    return {"touch_key": key, "occurred_at": f"2026-03-{at}:00Z", "channel": "web", "origin": "web", **more}


def paid(key: str, at: str, value: str, **more: Any) -> dict[str, Any]:
    """One payment in dollars."""
    return {
        "conversion_key": key, "occurred_at": f"2026-03-{at}:00Z", "conversion_type": "payment_received",
        "payment_ref": f"bank:{key}", "value": value, "currency": "USD", **more,
    }  # fmt: skip


def others() -> dict[str, list[dict[str, Any]]]:
    """Four people of one shared device, three of whom bought; and one who has nothing to do with it."""
    touches, sales = [], []
    for number in range(1, 4):
        who = {"email": f"neighbour{number}@example.com", "anonymous_id": "device-shared"}
        touches.append(touch(f"n{number}", f"0{number}T09:00", **who, **AD))
        sales.append(paid(f"sale-n{number}", f"1{number}T09:00", f"{number}0.01", email=who["email"]))
    touches.append(touch("s1", "05T09:00", anonymous_id="stranger-device", utm_source="news"))
    sales.append(paid("sale-s", "15T09:00", "7.77", anonymous_id="stranger-device"))
    sales.append(paid("sale-t", "16T09:00", "8.88", anonymous_id="stranger-device"))
    return {"touches": touches, "conversions": sales}


def fill(settings: Settings, profile_id: str) -> None:
    """Give the deployment everybody's records: sent, imported, dropped, pulled, and some of them bad."""
    url, lake = settings.operational_url, Lake(settings.lake)
    anonymous = {"anonymous_id": "anon-canary-9a7f"}
    sent = {
        **others(),
        "identities": [
            {"kind_a": "email", "value_a": EMAIL, "kind_b": "external_id", "value_b": "ext-canary-7781",
             "observed_at": "2026-03-02T08:00:00Z"},
        ],
        "people": [
            {"person_key": "key-canary-5521", "first_name": "Persephone", "last_name": "Quillfeather", **ADDRESS}
        ],
        "personal_names": [
            {"name_key": "web:canary-name", "told_at": "2026-03-03T08:00:00Z", "event_origin": "browser",
             "email": EMAIL, "first_name": "Persephone", "last_name": "Quillfeather"},
        ],
        "ad_referrals": [
            {"referral_id": "ref-talk-canary-4", "conversation_id": "talk-canary-4", "channel": "chatapp",
             "occurred_at": "2026-03-04T10:00:00Z", "phone": PHONE, **AD},
        ],
    }  # fmt: skip
    sent["touches"] = [
        *sent["touches"],
        touch("c1", "03T10:00", click_id="click-canary-77", click_id_type="fbclid", session_id="session-canary-1",
              x_note="note-canary-free", **anonymous, **AD),
        touch("c2", "03T10:05", click_id="click-canary-77", click_id_type="fbclid", **anonymous, **AD),
        touch("c3", "04T09:00", email=EMAIL, anonymous_id="device-shared", **AD),
    ]  # fmt: skip
    sent["conversions"] = [
        *sent["conversions"],
        paid("sale-canary.quillfeather@zephyrmail.com", "20T09:00", "99.99", answer_text="Persephone told me",
             email=EMAIL, **anonymous),
    ]  # fmt: skip
    for dataset, records in sent.items():
        with transaction(url) as session:
            outcome = accept(session, profile_id=profile_id, dataset=dataset, records=records)
        assert not outcome.rejected, outcome.rejected
    with transaction(url) as session:
        session.add(PaymentPayer(profile_id=profile_id, payment_ref="bank:sale-t", identifier_id=payer(profile_id)))
    _drop(settings, profile_id)
    lake.land(
        dataset="orders", profile_id=profile_id, source="shopify", batch="connection", records=pulled_orders()
    )  # fmt: skip
    entities = {
        "ad_accounts": [
            {"platform": "meta", "ad_account_id": "act", "name": "n", "currency": "USD", "timezone": "UTC"}
        ],
        "campaigns": [
            {"platform": "meta", "campaign_id": "c1", "ad_account_id": "act", "name": "C", "status": "ACTIVE"}
        ],
        "ad_sets": [{"platform": "meta", "ad_set_id": "s1", "campaign_id": "c1", "name": "S", "status": "ACTIVE"}],
        "ads": [
            {"platform": "meta", "ad_id": "a1", "ad_set_id": "s1", "campaign_id": "c1", "name": "A", "status": "ACTIVE"}
        ],
    }
    for dataset, rows in entities.items():
        landing = lake.land(dataset=dataset, profile_id=profile_id, source="meta", batch="c", records=rows)
        assert landing.rows_quarantined == 0


def payer(profile_id: str) -> str:
    """The digest of an identifier under which a stranger's payment was assigned to the person."""
    return identifier_id(profile_id, "email", EMAIL.lower())


def pulled_orders() -> list[dict[str, Any]]:
    """What the store answers, whoever was erased here."""
    order = {
        "connection_ref": "shop", "order_id": "o1", "order_ref": "#1", "created_at": "2026-03-22T09:00:00Z",
        "updated_at": "2026-03-22T09:00:00Z", "financial_status": "paid", "currency": "USD", "total": "41.50",
        "payment_customer_id": "cus-canary-3310", "email": EMAIL,
    }  # fmt: skip
    return [order, {**order, "order_id": "o2", "order_ref": "#2", "email": "neighbour1@example.com",
                    "payment_customer_id": None, "total": "5.00"}]  # fmt: skip


def _drop(settings: Settings, profile_id: str) -> None:
    folder = settings.inbox / profile_id
    for dataset in ("touches", "conversions"):
        (folder / dataset).mkdir(parents=True)
    csv_file = folder / "conversions" / "crm.csv"
    rows = [
        "conversion_key,occurred_at,conversion_type,value,currency,payment_ref,email,x_comment",
        f"crm-1,2026-03-21T09:00:00Z,payment_received,12.34,USD,bank:crm-1,{EMAIL},Persephone called",
        "crm-2,2026-03-21T10:00:00Z,payment_received,1.00,USD,bank:crm-2,neighbour2@example.com,",
        f"crm-3,not a time,payment_received,1.00,USD,bank:crm-3,{EMAIL},Persephone again",
    ]
    csv_file.write_text("\n".join(rows) + "\n")
    more = [touch("j1", "06T09:00", phone="+1 415 555 0187", x_page="/thanks/note-canary-free", **AD)]
    packed = "".join(json.dumps(record) + "\n" for record in more).encode()
    (folder / "touches" / "more.jsonl.gz").write_bytes(gzip.compress(packed, mtime=0))
    import_file(
        settings.operational_url, Lake(settings.lake), dataset="conversions", path=csv_file, profile_id=profile_id
    )  # fmt: skip


def left_of(home: Path, marks: tuple[str, ...] = MARKS) -> list[str]:
    """Where any of the texts is still found, in any case: bytes of every file, unpacked where they are packed."""
    wanted = [mark.lower() for mark in marks]
    found = []
    for path in sorted(one for one in home.rglob("*") if one.is_file()):
        for form, content in _forms(path):
            text = content.lower().decode("utf-8", "replace")
            found += [f"{path.relative_to(home)} ({form}): {mark}" for mark in wanted if mark in text]
    return found


def _forms(path: Path) -> Iterator[tuple[str, bytes]]:
    content = path.read_bytes()
    yield "bytes", content
    if path.suffix == ".gz":
        yield "unpacked", gzip.decompress(content)
    if path.suffix == ".parquet":
        yield "rows", repr(pq.read_table(path, partitioning=None).to_pylist()).encode()
    if path.suffix == ".duckdb":
        with _opened(path) as connection:
            tables = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
            for schema, table in tables:
                yield table, repr(connection.execute(f'from "{schema}"."{table}"').fetchall()).encode()


@contextmanager
def _opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    # a copy: the API of this process holds the served file open in its own way
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(path, folder))
        with duckdb.connect(str(copy), read_only=True) as connection:
            yield connection


def figures(served: Path, without: Mapping[str, tuple[str, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every served table, sorted; `without` names columns that say which person and not how much."""
    with _opened(served) as connection:
        names = [row[0] for row in connection.execute("select table_name from duckdb_tables()").fetchall()]
        found = {}
        for name in sorted(set(names) - {"snapshot", "profiles"}):
            columns = [row[0] for row in connection.execute(f"describe {name}").fetchall()]
            kept = [column for column in columns if column not in without.get(name, ())]
            listed = ", ".join(f'"{column}"' for column in kept) or "1"
            found[name] = sorted(connection.execute(f"select {listed} from {name}").fetchall(), key=repr)
    return found


def unfinished(path: Path) -> Path:
    """Where a file of the inbox is written anew without somebody."""
    return path.with_name(f".{hashlib.sha256(path.name.encode()).hexdigest()}.tmp")
