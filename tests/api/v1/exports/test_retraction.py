"""DELETE /events of what an export has taken up."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.models import Profile
from api.models.export import STATUSES
from api.scopes import Scope
from api.v1.events.ledger import event_id
from tests.api.conftest import Caller
from tests.api.v1.profiles.conftest import refusal
from tests.factories import exports


@pytest.mark.parametrize("status", STATUSES)
def test_an_event_with_a_row_in_any_state_is_not_taken_back(
    caller_with: Callable[..., Caller], url: str, profile: Profile, status: str
) -> None:
    key = caller_with(scopes=[Scope.EVENTS_WRITE])
    for name in ("told", "kept"):
        assert key.post("/events", json={"event_name": "lead_created", "idempotency_key": name}).status_code == 202
    told = event_id(profile.id, "told")
    exports.row(url, exports.destination(url, profile), event_id=told, status=status)
    assert refusal(key("DELETE", "/events/told")) == (409, "event_already_exported", None)
    assert key("DELETE", "/events/kept").get_json()["data"]["status"] == "retracted"
