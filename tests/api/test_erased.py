"""How a person is renamed: equal stays equal, different stays different, and nothing of the person stays."""

from __future__ import annotations

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
    record = {"conversion_key": "lead:Ann@example.com", "email": "ann@example.com", "external_id": "crm-1"}
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
