"""Whoever follows a link made for somebody is that person, as far as the token is true."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from api import db, link_tokens
from api.customer_keys import customer_key
from api.models import CollectedEvent, Profile
from api.snapshot import snapshots
from api.warehouse_ids import identifier_id
from tests.factories import erasures, served, tracked
from tests.factories.deployments import application
from touchledger.settings import Settings

ANN = "11111111-1111-8111-8111-111111111111"
OTHER = "01900000-0000-7000-8000-00000000ffff"


@pytest.fixture
def signing(settings: Settings, profile: Profile) -> Iterator[Settings]:
    made = settings.model_copy(update={"link_token_secret": SecretStr("a secret of tokens")})
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    ann = {"profile_key": 1, "identifier_id": identifier_id(profile.id, "email", "ann@example.com"), "person_ref": ANN}
    served.publish(settings.published, {"profiles": [facts], "person_identifiers": [ann]})
    yield made
    snapshots(made).close()


def _joined_to(signing: Settings, profile: Profile, token: str) -> object:
    event = tracked.event(tracked.key(signing.operational_url, profile), pageUrl=f"{tracked.SHOP}?tl_id={token}")
    assert tracked.send(application(signing).test_client(), event).status_code == 202
    with db.transaction(signing.operational_url) as session:
        (body,) = session.scalars(sa.select(CollectedEvent.body))
    assert body is not None
    assert token not in str(body)
    return body.get("linked_identifier_id")


def _token(signing: Settings, profile_id: str, key: str, lives: int = 60) -> str:
    signer = link_tokens.serializer(signing)
    assert signer is not None
    expires = int(db.now().timestamp()) + lives
    return link_tokens.mint(signer, profile_id=profile_id, customer_key=key, expires=expires)


def test_a_token_of_somebody_who_asked_to_be_forgotten_joins_nobody(signing: Settings, profile: Profile) -> None:
    erasures.forget(signing, profile.id, ("email", "ann@example.com"))
    token = _token(signing, profile.id, customer_key(signing, profile.id, ANN))
    assert _joined_to(signing, profile, token) is None


@pytest.mark.parametrize(
    ("of_profile", "lives", "altered", "is_joined"),
    [(None, 60, "", True), (OTHER, 60, "", False), (None, -60, "", False), (None, 60, "x", False)],
    ids=["own", "of another profile", "expired", "altered"],
)
def test_a_true_token_joins_the_visit_to_its_person_and_no_other_is_an_error(
    signing: Settings, profile: Profile, of_profile: str | None, lives: int, altered: str, is_joined: bool
) -> None:
    key = customer_key(signing, profile.id, ANN)
    token = _token(signing, of_profile or profile.id, key, lives) + altered
    expected = identifier_id(profile.id, "email", "ann@example.com") if is_joined else None
    assert _joined_to(signing, profile, token) == expected
