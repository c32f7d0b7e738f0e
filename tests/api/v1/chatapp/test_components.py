"""What placeholders a template has, and in how many steps that is found."""

from __future__ import annotations

from typing import Any

import pytest

from api.v1.chatapp.components import definition


def with_button(url: str) -> dict[str, Any]:
    told = {
        "name": "fitting_moved",
        "category": "UTILITY",
        "language": "en_US",
        "body_text": "Hello {{ first_name\t}}!",
    }
    return {**told, "examples": {}, "buttons": [{"type": "URL", "text": "Shop", "url": url}]}


def test_spaces_within_a_placeholder_are_no_part_of_its_name() -> None:
    body, buttons = definition(with_button("https://a.example/{{ 1 }}"))["components"]
    assert body["example"] == {"body_text_named_params": [{"param_name": "first_name", "example": "first name"}]}
    assert buttons["buttons"][0]["example"] == ["1"]


@pytest.mark.timeout(20)
def test_a_placeholder_without_an_end_is_looked_through_once() -> None:
    # each space was tried with all others three times over: ten buttons of one template held a process for a minute
    _, buttons = definition(with_button("https://a.example/{{" + " " * 20_000 + "x"))["components"]
    assert "example" not in buttons["buttons"][0]
