"""GET /realtime: browsers of which an event came just now, each once, of this profile alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from api import db
from api.models import CollectedEvent, Profile
from api.v1.analytics.declared import LABELS
from api.v1.events.schemas import ANSWERS
from tests.api.conftest import Caller, caller, client, profile, secret
from tests.factories import accounts
from touchledger.settings import Settings

__all__ = ["caller", "client", "profile", "secret"]


def test_browsers_of_the_last_five_minutes_are_counted_once_each(
    caller: Caller, settings: Settings, profile: Profile
) -> None:
    other = accounts.profile(settings.operational_url, name="Other")
    seen = [
        *((profile, "ann", 0), (profile, "ann", 4), (profile, "bob", 4.9), (profile, "late", 5.1)),
        *((profile, None, 1), (other, "eve", 0)),
    ]
    with db.transaction(settings.operational_url) as session:
        for number, (of, visitor, minutes) in enumerate(seen):
            event = CollectedEvent(profile_id=of.id, event_id=str(number), event_name="page_view", visitor=visitor)
            event.received_at = event.occurred_at = db.now() - timedelta(minutes=minutes)
            session.add(event)
    response = caller.get("/realtime")
    assert response.get_json()["data"] == {"visitors_online": 2, "window_minutes": 5}
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_answer_has_its_labels(answer: str) -> None:
    assert all(LABELS[answer])
    assert list(LABELS) == list(ANSWERS)
