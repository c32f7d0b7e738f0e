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
from tests.factories import served, tracked
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


@pytest.mark.parametrize(
    ("of_profile", "lives", "altered", "is_joined"),
    [(None, 60, "", True), (OTHER, 60, "", False), (None, -60, "", False), (None, 60, "x", False)],
    ids=["own", "of another profile", "expired", "altered"],
)
def test_a_true_token_joins_the_visit_to_its_person_and_no_other_is_an_error(
    signing: Settings, profile: Profile, of_profile: str | None, lives: int, altered: str, is_joined: bool
) -> None:
    signer = link_tokens.serializer(signing)
    assert signer is not None
    expires = int(db.now().timestamp()) + lives
    about = {"profile_id": of_profile or profile.id, "customer_key": customer_key(signing, profile.id, ANN)}
    token = link_tokens.mint(signer, **about, expires=expires) + altered
    event = tracked.event(tracked.key(signing.operational_url, profile), pageUrl=f"{tracked.SHOP}?tl_id={token}")
    assert tracked.send(application(signing).test_client(), event).status_code == 202
    with db.transaction(signing.operational_url) as session:
        (body,) = session.scalars(sa.select(CollectedEvent.body))
    expected = identifier_id(profile.id, "email", "ann@example.com") if is_joined else None
    assert body is not None
    assert body.get("linked_identifier_id") == expected
    assert token not in str(body)
