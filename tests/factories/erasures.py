"""People who have just asked to be forgotten, of whom the published snapshot still tells."""

from __future__ import annotations

from api import db
from api.erased_records import remember
from api.models import Erasure
from api.warehouse_ids import identifier_id
from touchledger.settings import Settings


def forget(settings: Settings, profile_id: str, *named: tuple[str, str], ids: tuple[str, ...] = ()) -> None:
    """Erase whoever has these (kind, value) pairs, or these identifiers' ids, as the request for it does at once."""
    with db.transaction(settings.operational_url) as session:
        erasure = Erasure(profile_id=profile_id, status="processing", reason="other", due_at=db.now(), counts={})
        session.add(erasure)
        session.flush()
        ids = (*ids, *(identifier_id(profile_id, kind, value) for kind, value in named))
        remember(session, settings.signing_key(), profile_id=profile_id, erasure_id=erasure.id, ids=ids)
