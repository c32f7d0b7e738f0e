"""The pseudonyms of persons: stable, one per profile, and opened only by their own deployment."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.customer_keys import FORM, customer_key, person_of
from touchledger.settings import Settings

PROFILE = "01900000-0000-7000-8000-000000000001"
OTHER = "01900000-0000-7000-8000-000000000002"
PERSON = "0f7d2c1e-5b1a-8c3d-9e4f-102938475665"


def _settings(secret: str = "one-signing-key") -> Settings:
    return Settings(home=Path("unused"), secret_key=secret)


@given(st.uuids())
def test_every_key_opens_to_its_person(person: uuid.UUID) -> None:
    key = customer_key(_settings(), PROFILE, str(person))
    assert FORM.fullmatch(key)
    assert person_of(_settings(), PROFILE, key) == str(person)


def test_a_key_is_the_same_whenever_it_is_made() -> None:
    assert customer_key(_settings(), PROFILE, PERSON) == customer_key(_settings(), PROFILE, PERSON.upper())


def test_a_person_has_another_key_in_another_profile_and_deployment() -> None:
    keys = {
        customer_key(_settings(), PROFILE, PERSON),
        customer_key(_settings(), OTHER, PERSON),
        customer_key(_settings("another-signing-key"), PROFILE, PERSON),
    }
    assert len(keys) == 3


def test_a_key_holds_no_readable_part_of_the_id() -> None:
    key = customer_key(_settings(), PROFILE, PERSON)
    assert PERSON[:8] not in key
    assert customer_key(_settings(), PROFILE, PERSON[:-1] + "6")[-20:] != key[-20:]


def test_another_profiles_or_deployments_key_opens_nothing() -> None:
    key = customer_key(_settings(), PROFILE, PERSON)
    assert person_of(_settings(), OTHER, key) is None
    assert person_of(_settings("another-signing-key"), PROFILE, key) is None


@pytest.mark.parametrize("place", range(3, 46))
def test_a_key_altered_in_any_character_opens_nothing(place: int) -> None:
    key = customer_key(_settings(), PROFILE, PERSON)
    for sign in "AQgw_":
        altered = key[:place] + sign + key[place + 1 :]
        assert altered == key or person_of(_settings(), PROFILE, altered) is None


@pytest.mark.parametrize("text", ["", "ck_", "ck_short", "ext:1", "ck_" + "A" * 43, "CK_" + "A" * 43, "ck_" + "é" * 43])
def test_any_other_text_opens_nothing(text: str) -> None:
    assert person_of(_settings(), PROFILE, text) is None
