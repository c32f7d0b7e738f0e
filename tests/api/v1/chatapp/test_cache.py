"""The cache of templates is renewed by one at a time."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api import db
from api.models import Connection
from api.v1.chatapp import cache
from tests.factories import accounts, exports
from tests.fixtures.at_once import one_behind_the_other

FOUND = [{"id": "1", "name": "order_on_its_way", "language": "en_US", "status": "APPROVED"}]


def test_a_template_that_two_syncs_find_at_once_is_added_once(database_url: str) -> None:
    made = exports.connection(database_url, accounts.profile(database_url))

    def renew(session: Session) -> dict[str, int]:
        return cache.renew(session, session.get_one(Connection, made.id), FOUND)

    _, second = one_behind_the_other(database_url, renew)
    assert second["upserted"] == 1
    with db.transaction(database_url) as session:
        assert [row["name"] for row in cache.listed(session, made.id)] == ["order_on_its_way"]
