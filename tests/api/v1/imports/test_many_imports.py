"""A page among very many imports is the first of an index, and so is the newest of them."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from api import db
from api.models import Profile
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.factories import accounts
from tests.fixtures.statements import statements
from touchledger.settings import Settings


@pytest.mark.parametrize(
    ("path", "count"), [("/imports", 1), ("/conversion-sync/data-sources", 2)], ids=["list", "sources"]
)
def test_imports_are_read_off_an_index_in_their_order(
    client: FlaskClient, settings: Settings, profile: Profile, path: str, count: int
) -> None:
    # all imports of a profile were read and put in order for each page
    scopes = [Scope.EVENTS_WRITE, Scope.EXPORTS_READ]
    caller = Caller(client, accounts.secret(settings.operational_url, profile, scopes=scopes))
    durable, hasty = (db.engine_for(settings.operational_url, durable=one) for one in (True, False))
    with statements(durable) as run, statements(hasty) as more:
        assert caller.get(path).status_code == 200
    asked = [one for one in (*run, *more) if "FROM imports" in one[0]]
    assert len(asked) == count
    with durable.connect() as connection:
        for text, values in asked:
            plan = [one.detail for one in connection.exec_driver_sql(f"explain query plan {text}", values)]
            assert plan[0].startswith("SEARCH imports USING INDEX ix_imports_listed (profile_id=?"), plan
            assert "USE TEMP B-TREE FOR ORDER BY" not in plan
            assert "max(" not in text
