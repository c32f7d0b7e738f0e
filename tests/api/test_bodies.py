"""Bodies of routes that nothing must be sent to: none or an empty object, and never something that is ignored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from marshmallow import ValidationError
from werkzeug.test import TestResponse

from api.bodies import Email, Phone, Text
from api.models import Profile
from api.scopes import Scope
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


@pytest.mark.parametrize("sent", [{}, {"content_type": "application/json"}, {"json": {}}])
def test_where_nothing_must_be_sent_no_body_is_an_empty_object(
    caller_with: Callable[..., Caller], client: FlaskClient, sent: dict[str, Any]
) -> None:
    """`curl -X POST …/quality/utm/refresh` was refused for its content type, while a key was rotated without a body."""
    caller = caller_with(scopes=[Scope.ANALYTICS_READ, Scope.GOALS_WRITE])
    assert caller.post("/quality/utm/refresh", **sent).status_code == 200
    goal = {"display_name": "Call", "conversion_key": "call", "source_event_names": ["call"], "revenue_type": "gross"}
    made = caller.post("/goals", json=goal).get_json()["data"]
    assert caller("PATCH", f"/goals/{made['goal_id']}", **sent).get_json()["data"]["display_name"] == "Call"
    # where something must be, nothing is never taken for it
    missing = caller.post("/goals", **sent)
    assert refusal(missing)[:2] == ((422, "validation_error") if "json" in sent else (400, "invalid_request"))
    paths = client.get("/openapi.json").get_json()["paths"]
    scan, goals = (paths[f"/api/v1{path}"]["post"]["requestBody"] for path in ("/quality/utm/refresh", "/goals"))
    assert (scan["required"], goals["required"]) == (False, True)


@pytest.mark.parametrize("field", [Email(), Phone(), Text(254)])
def test_a_text_that_is_too_long_is_not_looked_at_further(field: Text) -> None:
    with pytest.raises(ValidationError, match="characters"):
        field.deserialize("a" * 1_000_000)


def test_a_text_of_one_length_is_told_by_that_length() -> None:
    # a currency had to have 3 to 3 characters
    with pytest.raises(ValidationError, match="must have 3 characters"):
        Text(3, low=3).deserialize("EU")
