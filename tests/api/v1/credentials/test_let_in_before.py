"""Who lost their role after a request of theirs was let in gets no key for it, and ends none."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db
from api.models import ApiKey, Membership, Profile
from api.roles import Role
from tests.api.conftest import Caller
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of
from tests.fixtures.at_once import let_in_before


@pytest.fixture
def shop(database_url: str) -> Profile:
    return accounts.profile(database_url)


@pytest.fixture
def editor(home: Path, database_url: str, shop: Profile) -> Caller:
    person = people.user(database_url)
    people.member(database_url, person, shop.workspace_id, Role.EDITOR)
    client = application(settings_of(home, database_url)).test_client()
    return Caller(client, people.session_of(database_url, person))


@pytest.mark.parametrize(
    ("meanwhile", "refused"),
    [
        (sa.delete(Membership), (404, "not_found", None)),
        (sa.update(Membership).values(role="viewer"), (403, "forbidden", "role_required")),
    ],
    ids=["taken out", "demoted"],
)
@pytest.mark.parametrize("deed", ["rotate", "revoke"])
def test_who_lost_their_role_meanwhile_changes_no_key(
    database_url: str,
    shop: Profile,
    editor: Caller,
    deed: str,
    meanwhile: sa.Delete | sa.Update,
    refused: tuple[int, str, str | None],
) -> None:
    path = f"/workspaces/{shop.workspace_id}/api-keys"
    made = data(editor.post(path, json={"profile_id": shop.id, "name": "Server"}), 201)
    with let_in_before(database_url, lambda session: session.execute(meanwhile)):
        answer = editor.post(f"{path}/{made['id']}/{deed}")
    assert refusal(answer) == refused
    with db.transaction(database_url) as session:
        kept = session.scalars(sa.select(ApiKey)).one()
    assert (kept.revoked_at, kept.rotated_to_id, kept.expires_at) == (None, None, None)
