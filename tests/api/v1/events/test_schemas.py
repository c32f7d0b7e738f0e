"""What an event must look like, whoever sends it."""

from __future__ import annotations

import pytest
from marshmallow import ValidationError

from api import goals
from api.v1.events.schemas import EventBody


def test_money_that_a_json_number_does_not_keep_is_refused_and_taken_as_text() -> None:
    payment = {"currency": "USD", "payment_ref": "stripe:pi_1"}
    # would be kept as 99999999999999.98
    body = {"event_name": "payment_received", "properties": {**payment, "value": 99_999_999_999_999.99}}
    with pytest.raises(ValidationError) as refused:
        EventBody(known=goals.BUILT_IN).load(body)
    assert list(refused.value.messages_dict) == ["properties.value"]
    body = {"event_name": "payment_received", "properties": {**payment, "value": "99999999999999.99"}}
    assert EventBody(known=goals.BUILT_IN).load(body)["sent"].record["value"] == "99999999999999.99"
