"""The ledger against journeys worked out by hand: the edge cases of the attribution rules."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

import pytest

from sandbox.ledger import Credit
from sandbox.ledger_cases import public_id
from sandbox.ledger_weights import split, weights
from sandbox.money import Refund
from sandbox.people import Known, Outcome, Touch
from tests.factories.journeys import DAY, NOW, PROFILE, TODAY, ads, ledger, payment, stage, touch

EVER = (date(2026, 1, 1), date(2027, 1, 1))
MODELS = {"FT": "first_touch", "LT": "last_touch", "LIN": "linear", "TD": "time_decay", "LND": "last_non_direct"}


def cash(touches: list[Touch], model: str, amount: int = 1_000_000, level: str = "campaign") -> dict[str, int]:
    """Cash by letter of the ad whose campaign (or ad) earned it, and by reason where none did."""
    book = ledger(touches, [payment(amount)])
    letters = {getattr(ad, "id" if level == "ad" else f"{level}_id"): letter for letter, ad in ads().items()}
    credited = book.credit(MODELS[model], level, *EVER)
    left = book.unattributed(MODELS[model], level, *EVER)
    return {letters[name]: row.cash_minor for name, row in credited.items()} | {
        reason: row.cash_minor for reason, row in left.items()
    }


@pytest.mark.parametrize("model", MODELS)
def test_one_touch_earns_everything_under_every_model(model: str) -> None:
    assert cash([touch("A", DAY)], model) == {"A": 1_000_000}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("FT", {"A": 1_000_000}),
        ("LT", {"C": 1_000_000}),
        ("LND", {"C": 1_000_000}),
        ("TD", {"A": 300_924, "B": 332_247, "C": 366_829}),
    ],
)
def test_three_touches_on_three_days(model: str, expected: dict[str, int]) -> None:
    found = cash([touch("A", 3 * DAY), touch("B", 2 * DAY), touch("C", DAY)], model)
    assert set(found) == set(expected)
    assert all(abs(found[name] - expected[name]) <= 1 for name in found)
    assert sum(found.values()) == 1_000_000


def test_time_decay_halves_every_seven_days() -> None:
    path = [touch("A", 28 * DAY), touch("B", 21 * DAY), touch("C", 14 * DAY), touch("D", 7 * DAY)]
    found = weights("time_decay", path, NOW, 7 * DAY)
    expected = [Fraction(1, 15), Fraction(2, 15), Fraction(4, 15), Fraction(8, 15)]
    assert all(abs(a - b) < Fraction(1, 10**15) for a, b in zip(found, expected, strict=True))
    assert sum(found) == 1


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("FT", {"A": 1_000_000}),
        ("LT", {"direct": 1_000_000}),
        ("LND", {"A": 1_000_000}),
        ("LIN", {"A": 500_000, "direct": 500_000}),
        ("TD", {"A": 475_265, "direct": 524_735}),
    ],
)
def test_an_ad_then_a_direct_visit(model: str, expected: dict[str, int]) -> None:
    assert cash([touch("A", 2 * DAY), touch("d", DAY)], model) == expected


@pytest.mark.parametrize("model", MODELS)
def test_only_direct_visits_are_direct_and_no_visit_is_no_touch(model: str) -> None:
    assert cash([touch("d", 5 * DAY), touch("d", 2 * DAY)], model) == {"direct": 1_000_000}
    assert cash([], model) == {"no_touch": 1_000_000}
    assert cash([touch("A", 200 * DAY)], model) == {"no_touch": 1_000_000}


def test_the_window_is_closed_at_both_ends_to_the_second() -> None:
    path = [touch("A", 90 * DAY), touch("B", 90 * DAY + 1), touch("C", DAY)]
    assert cash(path, "FT") == {"A": 1_000_000}
    assert cash(path, "LIN") == {"A": 500_000, "C": 500_000}
    assert abs(cash(path, "TD")["A"] - 149) <= 1
    assert cash([touch("A", 4 * DAY), touch("B", 0)], "LT") == {"B": 1_000_000}
    assert cash([touch("A", 4 * DAY), touch("B", -5)], "LT") == {"A": 1_000_000}


def test_an_entity_counts_a_conversion_once_however_often_it_was_touched() -> None:
    path = [touch("A", 9 * DAY), touch("A", 6 * DAY), touch("A", 3 * DAY), touch("B", DAY)]
    book = ledger(path, [payment(1_000_000)])
    campaign = ads()["A"].campaign_id
    linear = book.credit("linear", "campaign", *EVER)[campaign]
    assert (linear.counts, linear.cash_minor) == ({"payment_received": 1}, 750_000)
    assert book.credit("time_decay", "campaign", *EVER)[campaign].cash_minor == 653_103


def test_two_ads_of_one_campaign_are_two_credits_and_one_count() -> None:
    first, second = [ad for ad in stage().ads if ad.campaign_id == ads()["A"].campaign_id][:2]
    path = [touch("A", 2 * DAY, ad_id=first.id), touch("A", DAY, ad_id=second.id, ad_set_id=second.ad_set_id)]
    book = ledger(path, [payment(100_01)])
    assert book.credit("linear", "campaign", *EVER)[first.campaign_id] == Credit({"payment_received": 1}, 100_01)
    found = book.credit("linear", "ad", *EVER)
    assert sorted((row.counts["payment_received"], row.cash_minor) for row in found.values()) == [
        (1, 50_00),
        (1, 50_01),
    ]


def test_ties_go_by_the_bytes_of_the_key_and_never_to_a_direct_visit() -> None:
    path = [touch("A", DAY, "1"), touch("B", DAY, "2")]
    assert cash(path, "FT") == {"A": 1_000_000}
    assert cash(path, "LT") == {"B": 1_000_000}
    tie = [touch("d", DAY, "0"), touch("A", DAY, "1"), touch("d", DAY, "2")]
    assert cash(tie, "FT") == cash(tie, "LT") == cash(tie, "LND") == {"A": 1_000_000}


def test_a_reloaded_click_and_a_second_page_are_no_second_touch() -> None:
    click = {"click_id_type": "fbclid", "click_id": "x"}
    reloaded = [touch("A", DAY, "1", session_id="s1", **click), touch("A", DAY - 600, "2", session_id="s2", **click)]
    pages = [touch("A", DAY, "1", session_id="s1"), touch("A", DAY - 95, "2", session_id="s1")]
    for path in (reloaded, pages):
        assert cash([*path, touch("B", 3_600, "9")], "LIN") == {"A": 500_000, "B": 500_000}
    apart = [touch("A", DAY, "1", session_id="s1"), touch("A", DAY - 95, "2", session_id="s2")]
    assert cash([*apart, touch("B", 3_600, "9")], "LIN") == {"A": 666_667, "B": 333_333}


def test_one_conversation_is_one_touch_as_it_was_seen_live() -> None:
    rows = [
        touch("A", DAY, "r1", via="referral", conversation_id="v", seen_live=False),
        touch("A", DAY, "r2", via="referral", conversation_id="v", seen_live=True),
    ]
    assert cash([*rows, touch("B", 60, "9")], "LIN") == {"A": 500_000, "B": 500_000}


def test_a_stale_form_field_is_dated_when_it_was_first_seen() -> None:
    first = touch("A", 40 * DAY, "record:lead", via="record")
    again = touch("A", 0, "record:deal", via="record")
    assert cash([first, again, touch("B", 2 * DAY)], "LT") == {"B": 1_000_000}
    assert cash([first, again, touch("B", 2 * DAY)], "FT") == {"A": 1_000_000}


@pytest.mark.parametrize(
    ("changes", "campaign", "ad"),
    [
        ({"ad_id": None, "ad_set_id": None, "campaign_id": None}, "paid_without_ad", "paid_without_ad"),
        ({"ad_id": "999", "ad_set_id": None, "campaign_id": None}, "unknown_ad", "unknown_ad"),
        ({"ad_id": None, "ad_set_id": None}, "A", "parent_only"),
    ],
)
def test_a_click_credits_no_further_than_it_names(changes: dict[str, None], campaign: str, ad: str) -> None:
    path = [touch("A", DAY, **changes)]
    assert cash(path, "LT", level="campaign") == {campaign: 1_000_000}
    assert cash(path, "LT", level="ad") == {ad: 1_000_000}


def test_organic_may_win_and_leaves_nothing_to_the_ad() -> None:
    path = [touch("A", DAY), touch("o", 3_600)]
    assert cash(path, "LT") == cash(path, "LND") == {"other_channel": 1_000_000}
    assert cash(path, "FT") == {"A": 1_000_000}


def test_refunds_lower_their_payment_on_its_own_day_and_never_its_count() -> None:
    path = [touch("A", 2 * DAY), touch("B", DAY)]
    part = payment(100_00, refunds=(Refund("re_1", NOW + 40 * DAY, 30_00), Refund("re_2", NOW, 5_00, "failed")))
    whole = payment(100_00, refunds=(Refund("re_1", NOW, 100_00),))
    day = TODAY - timedelta(days=1)
    found = ledger(path, [part]).credit("linear", "campaign", day, day)
    assert {row.cash_minor for row in found.values()} == {35_00}
    found = ledger(path, [whole]).credit("linear", "campaign", *EVER)
    assert list(found.values()) == [Credit({"payment_received": 1}, 0)] * 2


def test_leftover_units_go_by_hash_and_the_rest_is_exact() -> None:
    three = [touch("A", 3 * DAY), touch("B", 2 * DAY), touch("C", DAY)]
    assert sorted(cash(three, "LIN", 100_00).values()) == [33_33, 33_33, 33_34]
    assert sorted(cash(three, "LIN", 100).values()) == [33, 33, 34]
    two = [touch("A", 2 * DAY), touch("B", DAY)]
    found = ledger(two, [payment(1)]).credit("linear", "campaign", *EVER)
    assert sorted(row.cash_minor for row in found.values()) == [0, 1]
    assert all(row.counts == {"payment_received": 1} for row in found.values())


def test_equal_remainders_are_ordered_by_the_md5_of_outcome_and_destination() -> None:
    third = [Fraction(1, 3)] * 3
    # md5 of "c:x" begins with 3fa4, of "c:y" with d815, of "c:z" with eb2a
    assert split(100, third, ["z", "x", "y"], "c") == [33, 34, 33]
    assert split(101, third, ["z", "x", "y"], "c") == [33, 34, 34]


def test_renewals_inherit_the_first_payments_path_and_other_payments_have_their_own() -> None:
    chain = {"subscription_id": "sub_1", "invoice_id": "in_1"}
    first = payment(10_00, NOW - 125 * DAY, "1", billing_reason="create", sequence_no=1, **chain)
    renewal = payment(10_00, NOW - 5 * DAY, "2", billing_reason="cycle", sequence_no=2, **chain)
    upgrade = payment(10_00, NOW, "3", billing_reason="update", sequence_no=3, **chain)
    path = [touch("A", 127 * DAY), touch("B", 6 * DAY)]
    found = ledger(path, [first, renewal, upgrade]).credit("last_touch", "campaign", *EVER)
    assert found[ads()["A"].campaign_id].counts == {"payment_received": 2}
    assert found[ads()["B"].campaign_id].counts == {"payment_received": 1}


def test_an_earlier_conversion_does_not_cut_the_path() -> None:
    earlier = payment(100_00, NOW - 7 * DAY, "1")
    later = payment(1_000_000, NOW, "2")
    book = ledger([touch("A", 10 * DAY), touch("B", 5 * DAY)], [earlier, later])
    found = book.credit("time_decay", "campaign", *EVER)
    assert found[ads()["A"].campaign_id].cash_minor == 100_00 + 378_692
    assert found[ads()["A"].campaign_id].counts == {"payment_received": 2}


def test_outcomes_fall_on_the_profiles_local_day_at_that_days_rate() -> None:
    lead = Outcome("c1", 0, 1_772_332_200, "lead_created", "crm", Known())
    days = ledger([], outcomes=[lead], time_zone="America/Bogota").outcomes()
    assert list(days) == [date(2026, 2, 28)]


def test_money_without_a_rate_is_left_out_and_still_counted() -> None:
    found = ledger([], [payment(100_00, NOW - 400 * DAY, currency="EUR")]).totals(date(2025, 1, 1), TODAY)
    assert (found.counts, found.cash_minor) == ({"payment_received": 1}, 0)


def test_failed_and_authorised_payments_are_no_outcome() -> None:
    rows = [payment(status="failed"), payment(status="authorized", number="2")]
    assert ledger([touch("A", DAY)], rows).totals(*EVER) == Credit()


def test_public_ids_are_md5_with_version_and_variant_set() -> None:
    made = public_id(PROFILE, "ad", "meta:1")
    assert (made[14], made[19] in "89ab", len(made)) == ("8", True, 36)
    assert made != public_id(PROFILE, "ad_set", "meta:1")
