"""GET /payments and the refund by hand: pages, filters, refusals, and what reaches the lake."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.customer_keys import customer_key, person_of
from api.models import IngestedRecord, Profile
from api.roles import Role
from api.scopes import Scope
from api.warehouse_ids import identifier_id
from data_contracts.contract import inbound
from data_contracts.judge import judge
from tests.api.conftest import Caller
from tests.factories import erasures, people, served
from touchledger.settings import Settings

PERSON = "3f1b8a52-7c8e-8d11-9b5e-0c8f5e6d7a10"
SCOPES = (Scope.CUSTOMERS_READ, Scope.ATTRIBUTION_WRITE)
DAY = 86_400
REFUND = "/payments/bank:2/refund"


@pytest.fixture
def shop(settings: Settings, profile: Profile) -> None:
    plain = {"refunded": "0", "refunded_by_hand": "0", "currency": "USD"}
    rows = [{"payment_ref": f"bank:{n}", "ts": n * DAY, "value": f"{n}0.50", **plain} for n in range(1, 6)]
    rows[1] |= {"person_ref": PERSON, "payer_hint": "a***@example.com", "refunded": "0.50"}
    rows.append(
        {
            "payment_ref": "shop:yen",
            "ts": DAY,
            "value": "500",
            "refunded": "0",
            "refunded_by_hand": "0",
            "currency": "JPY",
        }
    )
    served.publish(
        settings.published,
        {
            "profiles": [
                {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD",
                 "currency_digits": 2, "settings_version": "v"}
            ],
            "payments": [{"profile_key": 1, **row} for row in rows]
            + [{"profile_key": 2, "payment_ref": "bank:9", "ts": 1, "value": "1", "currency": "USD"}],
        },
    )  # fmt: skip


@pytest.fixture
def clerk(shop: None, caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=SCOPES)


def refs(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["payment_ref"] for row in answer.json["data"]]


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


def refund(clerk: Caller, ref: str = "bank:2", **changes: Any) -> Any:
    return clerk.post(f"/payments/{ref}/refund", json={"amount": "5.00", "currency": "USD", **changes})


def test_nobody_sees_payments_without_a_key_or_its_scope(anonymous: Caller, caller: Caller) -> None:
    assert anonymous.get("/payments").status_code == 401
    assert code(caller.get("/payments")) == (403, "insufficient_scope")
    assert code(caller.post(REFUND, json={})) == (403, "insufficient_scope")


def test_payments_are_listed_newest_first_and_only_ones_own(clerk: Caller) -> None:
    answer = clerk.get("/payments")
    assert refs(answer) == ["bank:5", "bank:4", "bank:3", "bank:2", "bank:1", "shop:yen"]
    assert answer.headers["X-RateLimit-Remaining"] == "57"


def test_a_row_tells_its_money_exactly_and_its_payer_by_a_mask(
    clerk: Caller, settings: Settings, profile: Profile
) -> None:
    row = clerk.get("/payments").json["data"][3]
    assert row.pop("occurred_at").startswith("1970-01-03T00:00:00")
    assert row == {
        "payment_ref": "bank:2",
        "value": "20.50",
        "refunded_value": "0.50",
        "refunded_beyond_value": "0.00",
        "currency": "USD",
        "provider": "bank",
        "customer_key": customer_key(settings, profile.id, PERSON),
        "identified": True,
        "payer_hint": "a***@example.com",
        "manual_refund": None,
    }
    assert person_of(settings, profile.id, row["customer_key"]) == PERSON
    yen = clerk.get("/payments").json["data"][-1]
    assert (yen["value"], yen["customer_key"], yen["identified"]) == ("500", None, False)


def test_payments_without_a_payer_can_be_asked_for(clerk: Caller) -> None:
    assert refs(clerk.get("/payments?status=unidentified")) == ["bank:5", "bank:4", "bank:3", "bank:1", "shop:yen"]
    assert code(clerk.get("/payments?status=paid")) == (422, "status_invalid")


def test_an_interval_holds_both_its_ends(clerk: Caller) -> None:
    asked = "/payments?from=1970-01-03T00:00:00Z&to=1970-01-04T00:00:00Z"
    assert refs(clerk.get(asked)) == ["bank:3", "bank:2"]


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        ("1970-01-03T00:00:00.500Z", "1970-01-04T00:00:00Z", ["bank:3"]),
        ("1970-01-03T00:00:00Z", "1970-01-03T23:59:59.999Z", ["bank:2"]),
        ("1970-01-03T00:00:00.000001Z", "1970-01-03T00:00:00.500Z", []),
    ],
)
def test_an_interval_holds_nothing_beyond_its_ends(clerk: Caller, since: str, until: str, found: list[str]) -> None:
    assert refs(clerk.get(f"/payments?from={since}&to={until}")) == found


@pytest.mark.parametrize(
    "interval",
    [
        "from=1970-01-03T00:00:00Z",
        "to=1970-01-03T00:00:00Z",
        "from=1970-01-04T00:00:00Z&to=1970-01-03T00:00:00Z",
        "from=1970-01-03&to=1970-01-04",
        "from=1970-01-03T00:00:00&to=1970-01-04T00:00:00Z",
    ],
)
def test_an_interval_that_is_none_is_refused(clerk: Caller, interval: str) -> None:
    assert code(clerk.get(f"/payments?{interval}")) == (422, "range_invalid")


def test_pages_hold_every_payment_once(clerk: Caller) -> None:
    seen, path = [], "/payments?limit=4"
    while True:
        answer = clerk.get(path)
        seen += refs(answer)
        if not answer.json["pagination"]["has_next"]:
            break
        path = f"/payments?limit=4&cursor={answer.json['pagination']['cursor']}"
    assert seen == refs(clerk.get("/payments"))
    assert code(clerk.get(path + "&status=unidentified")) == (400, "invalid_parameter")


def test_before_the_first_snapshot_there_are_no_payments(caller_with: Callable[..., Caller]) -> None:
    assert refs(caller_with(scopes=SCOPES).get("/payments")) == []


def test_a_refund_is_kept_shown_and_sent_to_the_lake(clerk: Caller, settings: Settings) -> None:
    answer = refund(clerk, refunded_at="2026-03-01T10:00:00+01:00")
    assert answer.status_code == 201
    assert (answer.json["data"]["amount"], answer.json["data"]["net_value"]) == ("5.00", "15.00")
    shown = clerk.get("/payments").json["data"][3]["manual_refund"]
    assert shown["amount"] == "5.00"
    (sent,) = records(settings)
    assert (sent["refunds_payment_ref"], sent["refund_kind"], sent["value"]) == ("bank:2", "manual", "5.00")
    assert judge(inbound()["conversions"], [sent]).rejected == []


def records(settings: Settings) -> list[dict[str, Any]]:
    with db.transaction(settings.operational_url) as session:
        return list(session.scalars(sa.select(IngestedRecord.record).order_by(IngestedRecord.id)))


def test_a_payment_has_one_manual_refund_until_it_is_withdrawn(clerk: Caller, settings: Settings) -> None:
    assert refund(clerk).status_code == 201
    assert code(refund(clerk, amount="1.00")) == (422, "manual_refund_exists")
    assert clerk("DELETE", REFUND).json["data"] == {"deleted": True}
    assert clerk("DELETE", REFUND).json["data"] == {"deleted": False}
    assert clerk.get("/payments").json["data"][3]["manual_refund"] is None
    first, withdrawn = records(settings)
    assert withdrawn == {**first, "_deleted": True}
    assert refund(clerk, amount="1.00").status_code == 201
    assert records(settings)[2]["conversion_key"] != first["conversion_key"]


@pytest.mark.parametrize(
    "changes",
    [{"amount": "0"}, {"amount": "-1.00"}, {"amount": "20.01"}, {"amount": "1.001"}, {"currency": "EUR"}],
)
def test_an_amount_that_cannot_be_is_refused(clerk: Caller, settings: Settings, changes: dict[str, str]) -> None:
    assert code(refund(clerk, **changes)) == (422, "amount_invalid")
    assert records(settings) == []


def test_all_that_is_left_can_be_refunded(clerk: Caller) -> None:
    assert refund(clerk, amount="20.00").json["data"]["net_value"] == "0.00"


def test_a_yen_has_no_decimals(clerk: Caller) -> None:
    assert code(refund(clerk, "shop:yen", amount="1.5", currency="JPY")) == (422, "amount_invalid")
    assert refund(clerk, "shop:yen", amount="1", currency="JPY").json["data"]["net_value"] == "499"


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_reference_names_a_payment_of_the_profile(clerk: Caller, method: str) -> None:
    body = {"amount": "5.00", "currency": "USD"}
    assert code(clerk(method, "/payments/bank/refund", json=body)) == (422, "payment_ref_invalid")
    for unknown in ("bank:77", "bank:9"):
        answer = clerk(method, f"/payments/{unknown}/refund", json=body)
        assert code(answer) == (404, "conversion_not_found")
        # it spoke of a conversion and its handle
        assert answer.get_json()["error"]["message"] == "No payment of this profile has that reference."


def test_a_body_is_judged_before_the_payment_is_looked_up(clerk: Caller) -> None:
    assert code(clerk.post("/payments/bank:77/refund", json={"amount": 5})) == (422, "validation_error")


def republish(settings: Settings, profile: Profile, **payment: object) -> None:
    """Publish one payment of nine dollars, and Ann, who is known by her address."""
    facts = {"profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    row = {
        "payment_ref": "bank:1",
        "ts": DAY,
        "value": "9.00",
        "refunded": "0",
        "refunded_by_hand": "0",
        "currency": "USD",
        **payment,
    }
    known = {"identifier_id": identifier_id(profile.id, "email", "ann@example.com"), "person_ref": PERSON}
    told = {"profiles": [facts], "payments": [row], "person_identifiers": [known]}
    tables = {name: [{"profile_key": 1, **one} for one in rows] for name, rows in told.items()}
    served.publish(settings.published, tables, token=2)


@pytest.mark.parametrize("at", ["1999-12-31T23:59:59Z", "2999-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00"])
def test_a_refund_happened_at_a_time_that_can_be(clerk: Caller, settings: Settings, at: str) -> None:
    answer = refund(clerk, refunded_at=at)
    assert code(answer) == (422, "validation_error")
    assert answer.json["error"]["message"].startswith("refunded_at: ")
    assert records(settings) == []


@pytest.mark.parametrize("note", ["a\0b", "\ud800"])
def test_a_note_is_text_that_can_be_kept(clerk: Caller, note: str) -> None:
    body = json.dumps({"amount": "5.00", "currency": "USD", "note": note})
    answer = clerk.post(REFUND, data=body, content_type="application/json")
    assert code(answer) == (422, "validation_error")
    assert answer.json["error"]["message"].startswith("note: contains ")


def test_a_reference_may_hold_a_slash(clerk: Caller, settings: Settings, profile: Profile) -> None:
    republish(settings, profile, payment_ref="order:2026/1")
    assert refs(clerk.get("/payments")) == ["order:2026/1"]
    assert refund(clerk, "order:2026%2F1").status_code == 201
    assert clerk("DELETE", "/payments/order:2026%2F1/refund").json["data"] == {"deleted": True}
    assert clerk("PUT", "/payments/order:2026%2F1/payer", json={"email": "ann@example.com"}).status_code == 200


def test_the_payer_who_asked_to_be_forgotten_is_not_told_from_then_on(
    clerk: Caller, settings: Settings, profile: Profile
) -> None:
    republish(settings, profile, person_ref=PERSON, payer_hint="a***@example.com")
    (before,) = clerk.get("/payments").json["data"]
    assert (before["identified"], before["payer_hint"]) == (True, "a***@example.com")
    erasures.forget(settings, profile.id, ("email", "ann@example.com"))
    (after,) = clerk.get("/payments").json["data"]
    assert after == {**before, "customer_key": None, "identified": False, "payer_hint": None}


def test_a_withdrawn_refund_that_a_snapshot_held_may_be_entered_again(
    clerk: Caller, settings: Settings, profile: Profile
) -> None:
    assert refund(clerk, "bank:1", amount="9.00").status_code == 201
    republish(settings, profile, refunded="9.00", refunded_by_hand="8.00")
    assert clerk("DELETE", "/payments/bank:1/refund").json["data"] == {"deleted": True}
    assert code(refund(clerk, "bank:1", amount="8.01")) == (422, "amount_invalid")
    assert refund(clerk, "bank:1", amount="5.00").json["data"]["net_value"] == "3.00"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_who_may_see_people_sees_payments_and_leaves_them_to_admins(
    shop: None, client: FlaskClient, settings: Settings, profile: Profile, role: Role
) -> None:
    member, mine = people.user(settings.operational_url), f"?profile_id={profile.id}"
    people.member(settings.operational_url, member, profile.workspace_id, role, permissions=["pii.view"])
    theirs = Caller(client, people.session_of(settings.operational_url, member))
    entered = theirs.post(f"{REFUND}{mine}", json={"amount": "5.00", "currency": "USD"})
    assert (theirs.get(f"/payments{mine}").status_code, entered.status_code) == (200, 403)
