"""The golden cases of credit as records of the inbound sets: one person, and one prefix of keys, per case."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from orchestration.app_sets import land_calendar
from tests.dbt_project.project import DEFAULTS, Project

PROFILE = "golden"
FILE = Path(__file__).resolve().parents[1] / "golden" / "credit" / "cases.csv"
NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
UNITS = {"s": 1, "h": 3_600, "d": 86_400}
TYPES = {"pay": "payment_received", "renew": "payment_received", "refund": "refund_issued", "lead": "lead_created",
         "dm": "dm_started", "won": "closed_won"}  # fmt: skip
MODELS = ("last_touch", "first_touch", "last_non_direct", "linear", "time_decay")
CAMPAIGNS = "ABCD"
PAYMENT_HOST = "pay.example"

Records = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Expected:
    """What one outcome of one case must give: shares per model, None where the case does not ask."""

    id: str
    outcome_refs: tuple[str, str]
    shares: dict[str, dict[str, float] | None]
    linear_cents: dict[str, float] | None


@dataclass
class Cases:
    """All cases: the records to land, and what is expected of them."""

    records: Records = field(default_factory=dict)
    expected: list[Expected] = field(default_factory=list)

    def add(self, dataset: str, **columns: Any) -> None:
        self.records.setdefault(dataset, []).append(columns)


def read() -> Cases:
    """Every row of cases.csv."""
    cases = Cases()
    for name in CAMPAIGNS:
        cases.add("campaigns", platform="meta", campaign_id=name, ad_account_id="1", name=name, status="ACTIVE")
        cases.add("ads", platform="meta", ad_id=f"ad{name}", ad_set_id=f"set{name}", campaign_id=name,
                  name=name, status="ACTIVE")  # fmt: skip
    with FILE.open() as lines:
        for row in csv.DictReader(lines):
            _read(cases, row)
    return cases


def _read(cases: Cases, row: dict[str, str]) -> None:
    case, person = f"case{row['case']}", f"person{row['case']}"
    if row["title"]:
        for index, text in enumerate(row["touches"].split()):
            _touch(cases, f"{case}:{index}", person, text)
        for text in (row["events"] or "c pay 100 @0s").split(";"):
            _event(cases, case, person, text.split())
    cases.expected.append(
        Expected(
            id=f"{row['case']}-{row['outcome']}",
            outcome_refs=(f"{case}:{row['outcome']}", f"test:{case}:{row['outcome']}"),
            shares={model: _figures(row[model]) for model in MODELS},
            linear_cents=_figures(row["linear_cents"]),
        )
    )


def _figures(cell: str) -> dict[str, float] | None:
    if cell in ("", "none"):
        return {} if cell else None
    words = cell.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


def _at(text: str) -> str:
    """ISO time of `-2d`, `5h` or `-7776001s` from noon."""
    return (NOON + timedelta(seconds=int(text[:-1]) * UNITS[text[-1]])).isoformat()


def _touch(cases: Cases, key: str, person: str, text: str) -> None:
    found = re.fullmatch(r"(r:)?(\w)(?:#(\w+))?@(.+)", text)
    assert found, text
    chat, who, click_id, when = found.groups()
    known = {"occurred_at": _at(when), "person_key": person}
    if chat:
        cases.add("ad_referrals", referral_id=key, conversation_id=key, channel="chatapp", ad_platform="meta",
                  ad_id=f"ad{who}", seen_live=True, **known)  # fmt: skip
        return
    ad = {"d": {"is_direct": True}, "o": {"referrer_host": "search.example"}, "b": {"referrer_host": PAYMENT_HOST},
          "p": {"click_id_type": "gclid", "click_id": key}, "u": {"ad_platform": "meta", "ad_id": "404"}}  # fmt: skip
    named = ad.get(who) or {"ad_platform": "meta", "campaign_id": who}
    clicked = {"click_id": click_id, "click_id_type": "fbclid"} if click_id else {}
    cases.add("touches", touch_key=key, channel="web", origin="web", **known, **named, **clicked)


def _event(cases: Cases, case: str, person: str, words: list[str]) -> None:
    name, kind, *rest = words
    options = dict(word.split("=") for word in rest if "=" in word)
    (when,) = [word[1:] for word in rest if word.startswith("@")]
    amount = next((word for word in rest if word[0].isdigit()), None)
    row: dict[str, Any] = {
        "conversion_key": f"{case}:{name}",
        "occurred_at": _at(when),
        "conversion_type": TYPES[kind],
        "value": amount,
        "currency": "USD" if amount else None,
        "source": options.get("source", "payments"),
        "person_key": None if "nobody" in rest else person,
    }
    other = f"test:{case}:{options.get('ref', name)}"
    if kind == "refund":
        row["refunds_payment_ref"] = other
    elif kind == "renew":
        row["payment_ref"] = f"test:{case}:{name}"
        cases.add("recurring_payments", payment_ref=row["payment_ref"], first_payment_ref=other, sequence_no=2,
                  subscription_ref=case, billing_reason="cycle")  # fmt: skip
    elif kind == "pay":
        row["payment_ref"] = other
    if "ad" in options:
        row |= {"ad_platform": "meta", "campaign_id": options["ad"]}
        row |= {"touch_at": _at(options["touch"])} if "touch" in options else {}
        row |= {"click_id": options["click"], "click_id_type": "fbclid"} if "click" in options else {}
    cases.add("conversions", **row)


def land(project: Project) -> None:
    """Land every case into the profile PROFILE."""
    project.land("profiles", [{**DEFAULTS, "profile_id": PROFILE, "time_zone": "UTC"}], profile_id=None, batch=PROFILE)
    project.land("own_hosts", [{"profile_id": PROFILE, "host": PAYMENT_HOST}], profile_id=None, batch=PROFILE)
    land_calendar(project.lake, "UTC")
    for dataset, records in sorted(read().records.items()):
        project.land(dataset, records, profile_id=PROFILE)
