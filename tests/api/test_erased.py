"""How a person is renamed: equal stays equal, different stays different, and nothing of the person stays."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from api.erased import RENAMED, Person, normal
from api.warehouse_ids import identifier_id
from data_contracts.formats import FORMATS

PROFILE = "01900000-0000-7000-8000-000000000001"
OWN = {("email", "ann@example.com"), ("phone", "+14155550123"), ("anonymous_id", "device-of-ann")}
SHARED = ("anonymous_id", "tablet-at-home")


def ids(pairs: set[tuple[str, str]]) -> frozenset[str]:
    return frozenset(identifier_id(PROFILE, kind, value) for kind, value in pairs)


@pytest.fixture
def ann() -> Person:
    person = Person(PROFILE, b"secret", ids(OWN | {SHARED}), ids(OWN))
    person.read({"email": "ann@example.com", "click_id": "click-1", "conversation_id": "talk-1"})
    return person


def test_a_name_has_the_form_of_its_kind_and_comes_through_the_judge() -> None:
    person = Person(PROFILE, b"secret", frozenset())
    for kind, value in (("email", "ann@example.com"), ("phone", "+14155550123"), ("external_id", "7")):
        name = person.name(kind, value)
        assert RENAMED.fullmatch(name)
        assert normal(kind, name) == name
        assert FORMATS[kind](name) == name if kind in FORMATS else True


def test_equal_identifiers_get_equal_names_until_the_secret_is_gone(ann: Person) -> None:
    again = Person(PROFILE, b"secret", frozenset())
    other = Person(PROFILE, b"another secret", frozenset())
    assert again.name("email", "ann@example.com") == ann.name("email", "ann@example.com")
    assert other.name("email", "ann@example.com") != ann.name("email", "ann@example.com")
    assert ann.name("email", "bob@example.com") != ann.name("email", "ann@example.com")


def test_renaming_twice_changes_nothing_more(ann: Person) -> None:
    record = {"touch_key": "visit of ann@example.com", "email": "Ann@Example.com", "x_note": "hello"}
    once = ann.renamed(record)
    assert ann.renamed(once) == once
    assert "ann@" not in repr(once).lower()


def test_a_neighbour_on_the_shared_device_loses_the_device_and_nothing_else(ann: Person) -> None:
    record = {"touch_key": "t", "anonymous_id": "tablet-at-home", "email": "bob@example.com", "x_note": "hello"}
    after = ann.renamed(record)
    assert after == {**record, "anonymous_id": ann.name(*SHARED)}


def test_an_identifier_beside_an_unknown_one_is_renamed_in_texts_too() -> None:
    person = Person(PROFILE, b"secret", ids({("email", "ann@example.com")}))
    record = {"conversion_key": "lead:ann@example.com", "email": "ann@example.com", "external_id": "crm-1"}
    person.read({**record, "click_id": "click-1"})
    name = person.name("email", "ann@example.com")
    assert person.renamed(record) == {**record, "conversion_key": f"lead:{name}", "email": name}
    # whose the record is cannot be told, so nothing else of it is taken for the person's
    assert person.links == {}


def test_a_conversation_has_one_name_for_whoever_took_part(ann: Person) -> None:
    of_bob = ann.renamed({"email": "bob@example.com", "conversation_id": "talk-1", "click_id": "click-2"})
    assert of_bob["conversation_id"] == ann.name("conversation_id", "talk-1")
    assert of_bob["click_id"] == "click-2"


def test_a_short_id_is_not_looked_for_inside_other_texts() -> None:
    person = Person(PROFILE, b"secret", ids({("external_id", "12")}))
    person.read({"external_id": "12"})
    record = {"order_ref": "order 12", "external_id": "12", "ad_id": "12"}
    assert person.renamed(record) == {**record, "external_id": person.name("external_id", "12")}


def test_columns_that_no_contract_knows_are_emptied_in_records_about_the_person(ann: Person) -> None:
    after = ann.renamed({"email": "ann@example.com", "full_name": "Ann Lee", "value": "1.00"}, {"email", "value"})
    assert (after["full_name"], after["value"]) == (None, "1.00")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("https://s.example/?e=ann%40example.com&x=1", "https://s.example/?e={quoted}&x=1"),
        ("?to=%2Fin%3Fe%3DANN%2540example.com#ann@example.com", "?to=%2Fin%3Fe%3D{capitals}#{plain}"),
        ("https://s.example/?e=ann%40example%2Ecom", "https://s.example/?e={quoted}"),
        ("?to=%2Fin%3Fe%3Dann%2540example%252ecom", "?to=%2Fin%3Fe%3D{quoted}"),
        ("two\\nann@example.com", "two\\n{plain}"),
        ("write to ann@example.com.", "write to {plain}."),
    ],
)
def test_an_address_is_found_in_any_text_also_percent_encoded(ann: Person, text: str, left: str) -> None:
    name = ann.name("email", "ann@example.com")
    after = ann.renamed({"email": "bob@example.com", "utm_term": text, "x_note": text})
    capitals = ann.name("email", "ANN@example.com").replace("@", "%40")
    told = left.format(plain=name, quoted=name.replace("@", "%40"), capitals=capitals)
    assert after == {"email": "bob@example.com", "utm_term": told, "x_note": told}
    assert ann.renamed(after) == after


def test_an_encoded_text_keeps_no_sign_of_the_person() -> None:
    person = Person(PROFILE, b"secret", ids({("email", "änn+tag@example.com")}))
    person.read({"email": "änn+tag@example.com"})
    for text in ("%C3%A4nn%2Btag%40example.com", "%c3%a4nn+tag@example.com", "änn+tag%40example.com"):
        assert person.text(text) == quote(person.name("email", "änn+tag@example.com"), safe="")
    # a capital beyond ASCII is encoded by other bytes
    for text in ("ÄNN+TAG%40EXAMPLE.COM", "%C3%84NN%2BTAG%40EXAMPLE.COM"):
        assert person.text(text) == quote(person.name("email", "ÄNN+TAG@EXAMPLE.COM"), safe="")
    assert person.text("%C3%9Fnn") == "%C3%9Fnn"


def test_values_nested_in_others_are_renamed_too(ann: Person) -> None:
    name = ann.name("email", "ann@example.com")
    nested = {"list": ["ann@example.com", {"ann@example.com": [1, None, "mail ann@example.com"]}], "n": 1.5}
    after = ann.renamed({"email": "bob@example.com", "utm_term": nested}, {"email", "utm_term"})
    assert after["utm_term"] == {"list": [name, {name: [1, None, f"mail {name}"]}], "n": 1.5}


def test_values_nested_beyond_reading_go_and_fail_nothing(ann: Person) -> None:
    deep: object = "ann@example.com"
    for _ in range(150):
        deep = [deep]
    assert "ann@" not in repr(ann.renamed({"email": "bob@example.com", "x_deep": deep}))


@pytest.mark.parametrize(
    "record",
    [
        {"email": "joann@example.com", "touch_key": "lead:joann@example.com"},
        {"email": "jo.ann@example.com"},
        {"email": "ann@example.com.au"},
        {"phone": "+141555501234", "order_ref": "141555501234"},
        {"kind_a": "email", "value_a": "jo-ann@example.com", "kind_b": "phone", "value_b": "+141555501239"},
    ],
)
def test_an_address_that_holds_the_persons_is_somebody_elses(record: dict[str, str]) -> None:
    person = Person(PROFILE, b"secret", ids(OWN), ids(OWN))
    person.read({"email": "ann@example.com", "phone": "+14155550123"})
    assert person.renamed(record) == record


def test_in_the_persons_own_records_no_longer_word_keeps_the_address(ann: Person) -> None:
    after = ann.renamed(
        {"email": "ann@example.com", "utm_term": "leadann@example.com7", "touch_key": "7ann@example.com7"}
    )
    assert "ann@example.com" not in repr(after)


def test_a_letter_that_is_only_taken_for_another_fails_nothing() -> None:
    person = Person(PROFILE, b"secret", ids({("email", "sam@example.com")}))
    person.read({"email": "sam@example.com"})
    assert "\u017fam@" not in person.text("\u017fam@example.com")


def test_keys_that_differ_in_their_capitals_alone_stay_different(ann: Person) -> None:
    keys = ["visit of ann@example.com", "visit of Ann@Example.com", "visit of ANN@EXAMPLE.COM", "visit of Click-1x"]
    ann.learn("click_id", "click-1x")
    renamed = [ann.text(key) for key in keys]
    assert len({*renamed}) == len(keys)
    assert [key for key in renamed if "ann@" in key.lower() or "click" in key.lower()] == []
    assert renamed[0] == f"visit of {ann.name('email', 'ann@example.com')}"


def test_references_that_differ_in_their_capitals_alone_are_found_in_texts_as_in_their_columns() -> None:
    pairs = [("external_id", "Crm-77777"), ("external_id", "crm-77777")]
    person = Person(PROFILE, b"secret", ids({*pairs}), ids({*pairs}))
    for kind, value in pairs:
        person.learn(kind, value)
    assert [person.text(value) for _, value in pairs] == [person.name(kind, value) for kind, value in pairs]
