"""Two apps name a person whom nobody knew, at the same moment: it is one person, and no log learns who."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db
from api.models import User
from api.v1.workspaces import creation
from tests.fixtures.at_once import one_behind_the_other

EMAIL = "ann@nowhere-else.example"


def test_it_is_one_person_whose_address_stands_in_no_log_of_the_server(database_url: str) -> None:
    def name(session: Session) -> str:
        named = {"email": EMAIL, "first_name": "Ann"}
        return creation.person_of(session, named, at=db.now()).id

    first, second = one_behind_the_other(database_url, name)
    with db.transaction(database_url) as session:
        assert session.execute(sa.select(User.id, User.email, User.first_name)).all() == [(first, EMAIL, "Ann")]
        where = session.scalar(sa.text("show data_directory")) if database_url.startswith("postgresql") else None
    assert second == first
    if where is not None:
        # as it is by default: refused statements with what they clashed with, and no others
        assert EMAIL not in (Path(where).parent / "log").read_text()
