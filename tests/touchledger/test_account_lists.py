"""What a deployment has is listed with the ids that other commands ask for."""

from __future__ import annotations

import json

import pytest
from flask.testing import FlaskClient

from api.app import create_app
from api.db import now, transaction
from api.models import Profile, Workspace
from tests.factories import people
from tests.touchledger.test_cli import CREATE, run
from touchledger.settings import Settings


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


def test_profiles_and_workspaces_are_listed_by_name_without_the_archived(settings: Settings) -> None:
    assert run("profile", "list").stdout == "profiles: none\n"
    second, first, gone = (
        run(*CREATE, "--name", name).stdout.strip() for name in ("Zapatos [bold]", "Bolsos", "Archivado")
    )
    with transaction(settings.operational_url) as session:
        session.get_one(Profile, gone).archived_at = now()
        own = session.get_one(Profile, first).workspace_id
        session.add(Workspace(id="a", name="Agency"))
        session.add(Workspace(id="b", name="Before", archived_at=now()))
    people.member(settings.operational_url, people.user(settings.operational_url), "a")
    assert run("profile", "list", "--quiet").stdout.split() == [first, second]
    assert "Zapatos [bold]" in run("profile", "list").stdout
    assert json.loads(run("profile", "list", "--json").stdout)[0] == {
        "profile_id": first,
        "name": "Bolsos",
        "timezone": "Europe/Berlin",
        "currency": "EUR",
        "workspace_id": own,
        "workspace": "Touchledger",
    }
    facts = [tuple(one.values()) for one in json.loads(run("workspace", "list", "--json").stdout)]
    assert facts == [("a", "Agency", "starter", 0, 1, False), (own, "Touchledger", "starter", 2, 0, True)]
    assert run("workspace", "list").stdout.split("\n")[-2].split()[-3:] == ["2", "0", "yes"]


def test_a_key_is_found_and_ended_by_its_id(settings: Settings, client: FlaskClient) -> None:
    profile_id = run(*CREATE).stdout.strip()
    older, newer = (
        run("key", "mint", "--profile", profile_id, "--name", name, "--quiet").stdout.strip() for name in ("old", "new")
    )
    shown = run("key", "list", "--profile", profile_id, "--json").stdout
    assert not {older, newer} & set(shown.split('"'))
    listed = json.loads(shown)
    assert [(one["name"], one["status"], one["last_used_at"]) for one in listed] == [
        ("new", "active", None), ("old", "active", None),
    ]  # fmt: skip
    assert older.startswith(listed[1]["prefix"])

    def asked(key: str) -> int:
        return client.get("/api/v1/campaigns", headers={"Authorization": f"Bearer {key}"}).status_code

    before = (asked(older), asked(newer))
    assert run("key", "revoke", listed[1]["key_id"]).stdout == "Key old is revoked.\n"
    assert 401 not in before
    assert (asked(older), asked(newer)) == (401, before[1])
    assert "is revoked already" in run("key", "revoke", listed[1]["key_id"], code=1).stderr
    assert "there is no key 'x'" in run("key", "revoke", "x", code=2).stderr
    assert "there is no profile 'x'" in run("key", "list", "--profile", "x", code=2).stderr
    statuses = [one["status"] for one in json.loads(run("key", "list", "--profile", profile_id, "--json").stdout)]
    assert statuses == ["active", "revoked"]
