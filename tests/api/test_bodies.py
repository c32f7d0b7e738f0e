"""Bodies of routes that take nothing: none or an empty object, and never something that is then ignored."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.models import Profile
from tests.api.conftest import Caller
from tests.factories import people
from touchledger.settings import Settings


def refusal(response: TestResponse) -> tuple[int, str, str | None]:
    error = response.get_json()["error"]
    return response.status_code, error["code"], error.get("reason")


@pytest.mark.parametrize("act", ["rotate", "revoke"])
def test_what_is_sent_to_a_route_that_takes_nothing_is_refused(
    client: FlaskClient, settings: Settings, profile: Profile, act: str
) -> None:
    person = people.user(settings.operational_url)
    people.member(settings.operational_url, person, profile.workspace_id)
    owner = Caller(client, people.session_of(settings.operational_url, person))
    path = f"/workspaces/{profile.workspace_id}/api-keys"
    key = owner.post(path, json={"profile_id": profile.id, "name": "Server"}).get_json()["data"]
    at = f"{path}/{key['id']}/{act}"
    assert refusal(owner.post(at, json={"grace_hours": 0})) == (422, "validation_error", None)
    assert refusal(owner.post(at, json=[])) == (422, "validation_error", None)
    broken = owner.post(at, data=b"not json", content_type="application/json")
    assert refusal(broken) == (400, "invalid_request", "malformed_json")
    assert owner.post(at, content_type="application/json").status_code == (201 if act == "rotate" else 200)
    again = owner.post(at, json={})
    assert again.status_code == 200 or refusal(again) == (409, "invalid_state", "already_rotated")
