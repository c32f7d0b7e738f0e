"""Whose link a visitor followed: the token in a page's address names a person of the published snapshot."""

from __future__ import annotations

import sqlalchemy as sa

from api import db, link_tokens
from api.customer_keys import person_of
from api.customers import Directory
from api.erased import digest
from api.erased_records import erased_among
from api.models import TrackingKey
from api.snapshot import snapshots
from touchledger.settings import Settings


def linked_identifier(settings: Settings, tracking_key: str, token: str | None) -> str | None:
    """Id of the identifier that the token's person is known by longest; None for a token that is nobody's.

    A token of another profile than the key's is nobody's, as is one that was forged or has expired, and one of
    somebody who was erased.
    """
    signer = link_tokens.serializer(settings)
    if token is None or signer is None:
        return None
    sought = sa.select(TrackingKey.profile_id).where(TrackingKey.key == tracking_key)
    with db.transaction(settings.operational_url, durable=False) as reading:
        profile_id = reading.scalar(sought)
    key = link_tokens.opened(signer, token, profile_id=profile_id) if profile_id else None
    person = person_of(settings, profile_id, key) if profile_id and key else None
    if person is None or profile_id is None:
        return None
    with snapshots(settings).reader() as reader:
        found = Directory(reader, profile_id).identifier_of([person]).get(person)
    if found is None:
        return None
    with db.transaction(settings.operational_url, durable=False) as reading:
        return None if erased_among(reading, profile_id, [digest(settings.signing_key(), found)]) else found
