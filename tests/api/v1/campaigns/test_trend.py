"""GET /campaigns/trend: every day, entities as asked, and nothing of anybody else's."""

from __future__ import annotations

from tests.api.v1.campaigns.conftest import WINDOW, Caller

SPRING_SALE = "aaaaaaaa-0000-8000-8000-000000000011"
AWARENESS = "aaaaaaaa-0000-8000-8000-000000000013"
QUIET = "aaaaaaaa-0000-8000-8000-000000000015"
AD = "aaaaaaaa-0000-8000-8000-000000000031"
NEIGHBOUR = "bbbbbbbb-0000-8000-8000-000000000041"
UNKNOWN = "cccccccc-0000-8000-8000-000000000001"


def _ids(number: int) -> str:
    return ",".join(f"cccccccc-0000-8000-8000-{n:012d}" for n in range(number))


def test_every_day_of_the_window_has_a_row(caller: Caller) -> None:
    rows = caller.data("/campaigns/trend", entity_ids=SPRING_SALE, date_from="2026-02-27", date_to="2026-03-03")
    assert [(row["date"], row["spend"]) for row in rows] == [
        ("2026-02-27", 0.0),
        ("2026-02-28", 999.99),
        ("2026-03-01", 10.0),
        ("2026-03-02", 20.5),
        ("2026-03-03", 0.0),
    ]


def test_an_entity_that_delivered_nothing_has_zeros(caller: Caller) -> None:
    rows = caller.data("/campaigns/trend", entity_ids=QUIET)
    assert [(row["spend"], row["impressions"], row["clicks"]) for row in rows] == [(0.0, 0, 0), (0.0, 0, 0)]


def test_entities_come_in_the_order_asked_and_once(caller: Caller) -> None:
    asked = f"{AWARENESS}, {SPRING_SALE.upper()},{AWARENESS}"
    rows = caller.data("/campaigns/trend", entity_ids=asked)
    assert [row["entity_id"] for row in rows] == [AWARENESS, AWARENESS, SPRING_SALE, SPRING_SALE]


def test_unknown_foreign_and_other_level_ids_all_give_no_rows(caller: Caller) -> None:
    answers = [caller.get("/campaigns/trend", **WINDOW, entity_ids=one).json for one in (UNKNOWN, NEIGHBOUR, AD)]
    assert answers == [{"data": [], "meta": answers[0]["meta"]}] * 3
    rows = caller.data("/campaigns/trend", entity_ids=f"{NEIGHBOUR},{SPRING_SALE},{AD}")
    assert {row["entity_id"] for row in rows} == {SPRING_SALE}


def test_an_ad_is_found_at_its_own_level(caller: Caller) -> None:
    rows = caller.data("/campaigns/trend", entity_ids=AD, level="ad")
    assert [row["spend"] for row in rows] == [10.0, 0.0]


def test_ten_ids_are_taken_and_eleven_refused(caller: Caller) -> None:
    assert caller.data("/campaigns/trend", entity_ids=_ids(10)) == []
    status, code, message = caller.refusal("/campaigns/trend", **WINDOW, entity_ids=_ids(11))
    assert (status, code) == (400, "invalid_parameter")
    assert "entity_ids" in message


def test_a_bad_id_refuses_the_whole_request(caller: Caller) -> None:
    for bad in ("", ",", f"{AD},", "101", AD[:-1], f"{AD};{AD}", "g" * 36, f"{{{AD}}}", AD.replace("-", "")):
        status, code, message = caller.refusal("/campaigns/trend", **WINDOW, entity_ids=bad)
        assert (status, code) == (400, "invalid_parameter"), bad
        assert "entity_ids" in message
    assert caller.refusal("/campaigns/trend", **WINDOW)[:2] == (400, "invalid_parameter")
