"""A person who is asked to be forgotten twice at the same moment, on SQLite and on Postgres."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import sqlalchemy as sa

from api import db
from api.models import Erasure
from api.v1.customers import erasing
from api.warehouse_ids import identifier_id
from tests.factories import accounts
from tests.factories.deployments import settings_of
from tests.fixtures.at_once import one_behind_the_other


def test_of_two_who_ask_at_once_one_erases_and_the_other_finds_nobody(home: Path, database_url: str) -> None:
    # on Postgres the second failed on the identifiers that the first had just remembered
    shop = accounts.profile(database_url)
    ids = frozenset(identifier_id(shop.id, "external_id", name) for name in ("crm-1", "crm-2"))
    asked = {"profile_id": shop.id, "ids": ids, "reason": "subject_request", "reference": None}
    erase = partial(erasing.erase, settings=settings_of(home, database_url), **asked)
    first, second = one_behind_the_other(database_url, lambda session: erase(session))
    assert first is not None
    assert second is None
    with db.transaction(database_url) as session:
        assert session.scalars(sa.select(Erasure.id)).all() == [first.id]
