"""The cache of templates is renewed by one at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

from api import db
from api.models import Connection
from api.v1.chatapp import cache
from tests.factories import accounts, exports

FOUND = [{"id": "1", "name": "order_on_its_way", "language": "en_US", "status": "APPROVED"}]


def test_a_template_that_two_syncs_find_at_once_is_added_once(database_url: str) -> None:
    made = exports.connection(database_url, accounts.profile(database_url))

    def renew() -> dict[str, int]:
        with db.transaction(database_url) as session:
            return cache.renew(session, session.get_one(Connection, made.id), FOUND)

    with ThreadPoolExecutor() as pool:
        with db.transaction(database_url) as session:
            cache.renew(session, session.get_one(Connection, made.id), FOUND)
            other = pool.submit(renew)
            wait([other], timeout=0.5)
        assert other.result(timeout=20)["upserted"] == 1
    with db.transaction(database_url) as session:
        assert [row["name"] for row in cache.listed(session, made.id)] == ["order_on_its_way"]
