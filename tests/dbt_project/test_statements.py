"""What several sources say of one payment, visit or answer, from the lake to the marts: a profile for each case."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dbt_project.project import Project
from touchledger.settings import Settings

Record = dict[str, Any]
AD = {"ad_platform": "meta", "ad_id": "a1"}


def _paid(key: str, at: str = "2026-03-10T10:00:00Z", **columns: Any) -> Record:
    paid = {"conversion_type": "payment_received", "value": "100", "currency": "USD", "source": "payments"}
    return {"conversion_key": key, "occurred_at": at, **paid, **columns}


def _back(key: str, ref: str, value: str, **columns: Any) -> Record:
    back = {"conversion_type": "refund_issued", "value": value, "currency": "USD", "refunds_payment_ref": ref}
    return {"conversion_key": key, "occurred_at": "2026-03-12T10:00:00Z", "source": "payments", **back, **columns}


def _order(store: str, number: str, name: str, total: str, **columns: Any) -> Record:
    at = "2026-03-10T10:06:00Z"
    told = {"created_at": at, "updated_at": at, "financial_status": "paid", "currency": "USD", "total": total}
    return {"connection_ref": store, "order_id": number, "order_ref": name, **told, **columns}


def _touch(key: str, at: str, **columns: Any) -> Record:
    return {"touch_key": key, "occurred_at": at, "channel": "web", "origin": "web", **columns}


WORLDS: dict[str, dict[str, list[Record]]] = {
    "attempts": {
        "touches": [_touch("t", "2026-03-09T10:00:00Z", email="b@example.com", **AD)],
        "orders": [_order("shop-a", "11", "#1001", "100", email="b@example.com")],
        "conversions": [
            _paid("k1", payment_ref="stripe:pi_1", payment_status="failed", order_ref="#1001"),
            _paid("k2", "2026-03-10T10:05:00Z", payment_ref="stripe:pi_2", order_ref="#1001"),
            _back("r1", "order:#1001", "40", source="server_event"),
        ],
    },
    "stores": {
        "orders": [
            _order("shop-a", "21", "#1001", "50", email="x@example.com"),
            _order("shop-b", "22", "#1001", "70", email="y@example.com"),
            _order("shop-a", "1", "A-1", "30"),
            _order("shop-b", "1", "B-1", "40"),
        ],
        "conversions": [_paid("e1", value="50", order_ref="#1001", source="server_event", email="x@example.com")],
    },
    "euros": {
        "orders": [_order("shop-a", "9", "#9", "100", currency="EUR", refunded_total="30")],
        "conversions": [
            _back("r", "store:9", "33"),
            _paid("k1", payment_ref="stripe:1", currency="EUR"),
            _back("r1", "stripe:1", "55"),
            _back("r2", "stripe:1", "10", currency="EUR", refund_kind="manual"),
        ],
    },
    "beyond": {
        "conversions": [
            _paid("t1", payment_ref="stripe:9", currency="EUR"),
            _back("b1", "stripe:9", "80", currency="EUR"),
            _back("b2", "stripe:9", "33"),
        ],
    },
    "totals": {
        "orders": [_order("shop-a", "31", "#31", "100", refunded_total="100")],
        "conversions": [_paid("s1", order_ref="#31", source="store"), _paid("f1", payment_ref="bank:1", source="file")],
    },
    "parts": {
        "orders": [_order("shop-a", "41", "#41", "100", refunded_total="30", email="x@example.com")],
        "conversions": [
            _paid("p1", value="60", payment_ref="pp:1", order_ref="#41", source="server_event"),
            _paid("p2", value="40", payment_ref="pp:2", order_ref="#41", source="crm"),
        ],
    },
    "told_parts": {
        "orders": [
            _order("shop-a", "61", "#61", "100", refunded_total="45"),
            _order("shop-a", "62", "#62", "100", refunded_total="100"),
            _order("shop-a", "63", "#63", "100"),
        ],
        "conversions": [
            _paid("p1", value="60", payment_ref="pp:1", order_ref="#61", source="server_event"),
            _paid("p2", value="40", payment_ref="pp:2", order_ref="#61", source="server_event"),
            _back("r2", "pp:2", "40", source="file"),
            _paid("p3", value="60", payment_ref="pp:3", order_ref="#62", source="server_event"),
            _paid("p4", value="40", payment_ref="pp:4", order_ref="#62", source="server_event"),
            _paid("p5", value="60", payment_ref="pp:5", order_ref="#63"),
            _paid("p6", value="40", payment_ref="pp:6", order_ref="#63"),
            _back("r5", "order:#63", "90", source="server_event"),
        ],
    },
    "named": {
        "orders": [
            _order("shop-a", "71", "#71", "100", payment_ref="pp:71", refunded_total="5"),
            _order("shop-a", "72", "#72", "100", payment_ref="pp:72"),
        ],
        "conversions": [
            _paid("e1", value="99", payment_ref="cart:71", order_ref="#71", source="server_event"),
            _back("r1", "pp:71", "20", source="file"),
            _paid("e2", value="60", payment_ref="cart:72", order_ref="#72", source="server_event"),
            _paid("e3", value="40", payment_ref="cart:73", order_ref="#72", source="server_event"),
        ],
    },
    "twice": {
        "conversions": [
            _paid("k1", payment_ref="stripe:1", order_ref="#51"),
            _back("r1", "stripe:1", "30"),
            _back("r2", "order:#51", "30", source="server_event"),
            _back("r3", "stripe:1", "5", source="file", refund_kind="manual"),
        ],
    },
    "clicks": {
        "touches": [
            _touch("t", "2026-03-09T10:00:00Z", email="b@example.com", click_id_type="GCLID", click_id="x1"),
            _touch("u", "2026-03-09T10:00:00Z", email="c@example.com", click_id_type="FBCLID", click_id="x2"),
            _touch("v", "2026-03-30T10:00:00Z", email="c@example.com", click_id_type="fbclid", click_id="x3"),
        ],
        "conversions": [
            _paid("k1", payment_ref="x:1", email="a@example.com", click_id_type="fbclid", click_id="own",
                  touch_at="2026-03-09T10:00:00Z"),
            _paid("k2", payment_ref="x:2", email="c@example.com"),
        ],
    },
    "inbox": {
        "conversions": [
            *(_paid(f"k{n}", payment_ref=f"x:{n}", email="office@example.com", external_id=f"c{n}") for n in range(6)),
            _paid("nobody's", payment_ref="x:6", email="office@example.com"),
            _paid("a guess", payment_ref="x:7", email="office@example.com"),
            _paid("hers", payment_ref="x:7", external_id="c5", source="file"),
            {"conversion_key": "lead", "occurred_at": "2026-03-11T10:00:00Z", "conversion_type": "lead_created",
             "email": "office@example.com"},
        ],
    },
    "answers": {
        "conversions": [
            {"conversion_key": "e0", "occurred_at": "2026-03-01T10:00:00Z", "conversion_type": "lead_created",
             "email": "c@example.com", "answer_key": "friend"},
            _paid("e1", payment_ref="x:1", source="server_event", email="c@example.com"),
            _paid("crm1", payment_ref="x:1", source="crm", email="c@example.com", answer_key="podcast"),
        ],
    },
    "chats": {
        "touches": [_touch("w", "2026-03-09T10:00:00Z", email="b@example.com", **AD)],
        "ad_referrals": [
            {"referral_id": "r", "conversation_id": "v", "channel": "chatapp", "occurred_at": "2026-03-09T10:10:00Z",
             "email": "b@example.com", "seen_live": True, **AD}
        ],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(Settings(home=tmp_path_factory.mktemp("told")))
    project.land_profiles(*({"profile_id": name} for name in WORLDS))
    ad = {"platform": "meta", "ad_id": "a1", "ad_set_id": "s1", "campaign_id": "c1", "name": "a1", "status": "ACTIVE"}
    rate = {"rate_date": "2026-03-10", "base": "EUR", "quote": "USD", "rate": "1.1"}
    project.land("fx_rates", [rate], profile_id=None)
    for name, sets in WORLDS.items():
        project.land("ads", [ad], profile_id=name)
        for dataset, records in sets.items():
            project.land(dataset, records, profile_id=name)
    project.model()
    return project


def _of(told: Project, profile: str, columns: str, mart: str) -> list[tuple[Any, ...]]:
    return told.rows(f"""
        select {columns}
        from marts.{mart} inner join intermediate.int_profiles using (profile_key)
        where profile_id = '{profile}'
        order by all
    """)


def _cash(told: Project, profile: str) -> list[tuple[Any, ...]]:
    return _of(told, profile, "conversion_ref, cash_minor, refunded_minor", "conversions")


def test_an_order_speaks_of_the_attempt_that_was_captured(told: Project) -> None:
    assert _cash(told, "attempts") == [("stripe:pi_2", 6_000, 4_000)]
    assert _of(told, "attempts", "payment_ref, payer_hint", "payments") == [("stripe:pi_2", "b***@example.com")]


def test_a_payment_is_told_with_the_names_that_its_order_gives_it(told: Project) -> None:
    names = [("stripe:pi_2", "order:#1001"), ("stripe:pi_2", "store:11")]
    assert _of(told, "attempts", "payment_ref, name", "payment_names") == names


def test_orders_of_two_stores_are_payments_of_their_own(told: Project) -> None:
    assert _cash(told, "stores") == [
        ("order:#1001", 5_000, 0),
        ("store:1", 3_000, 0),
        ("store:22", 7_000, 0),
        ("store:shop-b:1", 4_000, 0),
    ]


def test_a_refund_in_another_currency_is_taken_off_once_and_told_in_the_payments_own(told: Project) -> None:
    assert _cash(told, "euros") == [("store:9", 7_700, 3_300), ("stripe:1", 4_400, 6_600)]
    rows = _of(told, "euros", "payment_ref, cast(refunded as int), cast(refunded_by_hand as int)", "payments")
    assert rows == [("store:9", 30, 0), ("stripe:1", 60, 10)]


def test_what_was_taken_back_beyond_a_payment_is_told_beside_it(told: Project) -> None:
    assert _cash(told, "beyond") == [("stripe:9", 0, 11_000)]
    rows = _of(told, "beyond", "cast(refunded as int), cast(refunded_beyond as int)", "payments")
    assert rows == [(100, 10)]


def test_the_stores_total_counts_beside_its_own_row_and_a_file_is_told_as_one(told: Project) -> None:
    assert _of(told, "totals", "conversion_ref, source, cash_minor, refunded_minor", "conversions") == [
        ("bank:1", "file", 10_000, 0),
        ("order:#31", "store", 0, 10_000),
    ]


def test_an_order_that_several_payments_paid_is_worth_what_they_paid(told: Project) -> None:
    assert _cash(told, "parts") == [("pp:1", 3_000, 3_000), ("pp:2", 4_000, 0)]


def test_a_refund_of_a_later_part_is_taken_off_once_and_one_of_the_whole_order_off_every_part(told: Project) -> None:
    assert _cash(told, "told_parts") == [
        ("pp:1", 5_500, 500),
        ("pp:2", 0, 4_000),
        ("pp:3", 0, 6_000),
        ("pp:4", 0, 4_000),
        ("pp:5", 0, 6_000),
        ("pp:6", 1_000, 3_000),
    ]


def test_a_payment_that_its_order_alone_names_is_the_one_that_others_tell_for_the_order(told: Project) -> None:
    assert _cash(told, "named") == [("cart:71", 8_000, 2_000), ("cart:72", 6_000, 0), ("cart:73", 4_000, 0)]


def test_a_refund_that_two_sources_tell_of_is_taken_off_once(told: Project) -> None:
    assert _cash(told, "twice") == [("stripe:1", 6_500, 3_500)]


def test_click_ids_are_known_by_their_names_in_any_case_and_go_with_what_converted_after_them(told: Project) -> None:
    places = told.rows("""
        select place from intermediate.int_sightings inner join intermediate.int_profiles using (profile_key)
        where profile_id = 'clicks' order by 1
    """)
    assert places == [("paid_without_ad:google",), *[("paid_without_ad:meta",)] * 3]
    assert _of(told, "clicks", "fbclid", "conversion_clicks") == [("own",), ("x2",)]


def test_a_conversion_known_by_a_shared_inbox_alone_is_told_apart_from_those_of_its_person(told: Project) -> None:
    shared = _of(told, "inbox", "conversion_ref, is_shared", "conversions")
    assert shared == [("lead", True), *((f"x:{n}", False) for n in range(6)), ("x:6", True), ("x:7", False)]
    whose = _of(told, "inbox", "conversion_ref, person_ref", "conversions")
    assert dict(whose)["x:7"] == dict(whose)["x:5"]


def test_a_payment_goes_by_the_answer_on_another_of_its_records(told: Project) -> None:
    assert _of(told, "answers", "answer_key, answers, conversions, cash_minor", "declared_sources") == [
        ("friend", 1, 1, 0),
        ("podcast", 1, 1, 10_000),
    ]


def test_a_payment_of_several_of_the_callers_records_is_told_with_the_keys_of_all(told: Project) -> None:
    assert _of(told, "answers", "event_key, outcome_event_id is not null, payment_ref", "payment_keys") == [
        ("crm1", False, "x:1"),
        ("e1", True, "x:1"),
    ]
    assert _of(told, "twice", "event_key", "payment_keys") == []


def test_a_chat_beside_a_visit_of_the_same_ad_is_a_touch_of_its_own(told: Project) -> None:
    assert _of(told, "chats", "channel, origin", "touches") == [("chatapp", "conversation_referral"), ("web", "web")]
