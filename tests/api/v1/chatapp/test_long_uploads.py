"""A sample may take longer to hand over than other requests take altogether: whoever repeats it meanwhile waits."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
import time_machine

from api import chat_apps, db
from api.models import ChatTemplate
from sandbox.chatapp import PNG
from tests.api.conftest import Caller
from tests.api.v1.chatapp.conftest import Business
from tests.api.v1.chatapp.test_templates import TEMPLATE, refusal
from tests.fixtures.sandbox import RunningSandbox
from tests.fixtures.waiting import AT_MOST


def hand_in(business: Business) -> Any:
    payload = json.dumps({"connection_id": business.connection.id, **TEMPLATE})
    parts = {"payload": payload, "header_media": (io.BytesIO(PNG), "sample", "image/png")}
    caller = Caller(business.caller.client.application.test_client(), business.caller.secret)
    key = {"Idempotency-Key": "once"}
    return caller.post("/chatapp/templates", headers=key, data=parts, content_type="multipart/form-data")


def test_a_repetition_takes_nothing_over_while_the_sample_is_still_on_its_way(
    business: Business, sandbox: RunningSandbox
) -> None:
    # after a minute it handed the template in too, and one of the two was refused for what the other had made
    with time_machine.travel(db.now(), tick=True) as clock, ThreadPoolExecutor(1) as pool:
        with sandbox.holding("/upload:") as held:
            first = pool.submit(hand_in, business)
            assert held.acquire(timeout=AT_MOST)
            clock.shift(timedelta(seconds=chat_apps.UPLOAD_SECONDS - 10))
            assert refusal(hand_in(business)) == (409, "idempotency_key_in_flight", None)
        assert first.result().status_code == 201
        again = hand_in(business)
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
    with db.transaction(business.settings.operational_url) as session:
        assert session.scalars(sa.select(ChatTemplate.name)).all() == [TEMPLATE["name"]]
