"""Secrets: shape, checksum, digest; and what a stored key gives away."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api import credentials, db
from api.models import ApiKey, Profile
from tests.factories import accounts
from touchledger.settings import Settings


def test_a_secret_has_the_published_shape_and_its_checksum() -> None:
    secret = credentials.mint("tl_live")
    assert re.fullmatch(r"tl_live_[0-9A-Za-z]{38}", secret)
    assert credentials.PATTERN.fullmatch(secret)
    assert credentials.is_well_formed(secret, "tl_live")
    assert not credentials.is_well_formed(secret, "tl_user")
    assert credentials.mint("tl_live") != secret


def test_the_checksum_is_crc32_in_six_base62_digits() -> None:
    # CRC-32 of "123456789" is the published check value 0xCBF43926
    assert credentials.checksum("123456789") == _base62(0xCBF43926)
    assert credentials.checksum("") == "000000"


def _base62(number: int) -> str:
    digits = []
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits.append("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[digit])
    return "".join(reversed(digits))


@given(st.integers(8, 45), st.sampled_from(credentials.ALPHABET))
def test_one_wrong_character_is_noticed(place: int, letter: str) -> None:
    secret = "tl_live_" + "0" * 32
    secret += credentials.checksum(secret)
    wrong = secret[:place] + letter + secret[place + 1 :]
    assert credentials.is_well_formed(wrong, "tl_live") == (wrong == secret)


def test_a_stored_key_gives_nothing_away(settings: Settings, profile: Profile) -> None:
    with db.transaction(settings.operational_url) as session:
        key, secret = credentials.mint_api_key(session, profile_id=profile.id, name="n")
    stored = " ".join(str(getattr(key, column.name)) for column in ApiKey.__table__.columns)
    assert secret not in stored
    assert key.digest == credentials.digest(secret)
    assert key.prefix == secret[: len("tl_live_") + 8]
    assert secret not in repr(key)
    assert key.scopes == ["analytics:read", "campaigns:read", "conversions:read", "realtime:read"]


def test_a_key_with_an_unknown_scope_or_a_made_up_secret_is_not_minted(settings: Settings, profile: Profile) -> None:
    with db.transaction(settings.operational_url) as session:
        with pytest.raises(ValueError, match="is not a valid Scope"):
            credentials.mint_api_key(session, profile_id=profile.id, name="n", scopes=["campaigns:write"])
        with pytest.raises(ValueError, match="well formed"):
            credentials.mint_api_key(session, profile_id=profile.id, name="n", secret="tl_live_" + "0" * 38)


def test_a_given_secret_opens_the_api(settings: Settings, profile: Profile) -> None:
    given_secret = credentials.mint("tl_live")
    with db.transaction(settings.operational_url) as session:
        _, secret = credentials.mint_api_key(session, profile_id=profile.id, name="n", secret=given_secret)
    assert secret == given_secret
    assert accounts.secret(settings.operational_url, profile) != secret
