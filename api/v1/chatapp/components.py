"""A template as the platform takes it: its parts, and an example for every placeholder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from api import errors

PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
NAMED = re.compile("[a-z][a-z0-9_]{0,63}")
NUMBERED = re.compile("[1-9][0-9]?")
BUTTON_MEMBERS = ("type", "text", "url", "phone_number", "flow_id", "navigate_screen", "flow_action")


def definition(body: Mapping[str, Any], *, header: tuple[str, str] | None = None) -> dict[str, Any]:
    """The template to hand in. `header` is the kind of a sample, IMAGE, VIDEO or DOCUMENT, and its handle.

    422 validation_error for placeholders of two kinds, with other names than the platform takes or a number left out.
    """
    texts = {"body_text": body["body_text"], "header_text": body.get("header_text") or ""}
    names = {field: _placeholders(field, text) for field, text in texts.items()}
    numbered = _are_numbered([name for found in names.values() for name in found])
    parts = [_header_text(body, names["header_text"], numbered)] if body.get("header_text") else []
    if header is not None:
        parts.append({"type": "HEADER", "format": header[0], "example": {"header_handle": [header[1]]}})
    parts.append(_body_text(body, names["body_text"], numbered))
    if body.get("footer_text"):
        parts.append({"type": "FOOTER", "text": body["footer_text"]})
    if body.get("buttons"):
        parts.append({"type": "BUTTONS", "buttons": [_button(body, one) for one in body["buttons"]]})
    told = {name: body[name] for name in ("name", "category", "language")}
    return {**told, "parameter_format": "POSITIONAL" if numbered else "NAMED", "components": parts}


def _named(text: str) -> list[str]:
    # a pattern that left the spaces out itself took a second for a thousand of them without an end
    return [name.strip() for name in PLACEHOLDER.findall(text)]


def _placeholders(field: str, text: str) -> list[str]:
    found = list(dict.fromkeys(_named(text)))
    for name in found:
        if not NAMED.fullmatch(name) and not NUMBERED.fullmatch(name):
            raise errors.VALIDATION_ERROR(f"{field}: {{{{{name[:40]}}}}} is no placeholder such as {{{{first_name}}}}.")
    if not _are_numbered(found):
        return found
    # the platform matches examples with numbers by their place in the list, and takes no text with a number left out
    counted = [str(number) for number in range(1, len(found) + 1)]
    for name in counted:
        if name not in found:
            raise errors.VALIDATION_ERROR(f"{field}: {{{{{name}}}}} is missing; numbers begin with 1 and have no gap.")
    return counted


def _are_numbered(names: list[str]) -> bool:
    numbered = {NUMBERED.fullmatch(name) is not None for name in names}
    if len(numbered) > 1:
        raise errors.VALIDATION_ERROR("body_text: placeholders are either all named or all numbered.")
    return numbered == {True}


def _header_text(body: Mapping[str, Any], names: list[str], numbered: bool) -> dict[str, Any]:
    part = {"type": "HEADER", "format": "TEXT", "text": body["header_text"]}
    shown = [_example(body, name) for name in names]
    return {**part, **_examples("header_text", names, shown, shown if numbered else None)}


def _body_text(body: Mapping[str, Any], names: list[str], numbered: bool) -> dict[str, Any]:
    shown = [_example(body, name) for name in names]
    # the platform takes a list of whole sets of examples here, and one set for the header
    return {"type": "BODY", "text": body["body_text"]} | _examples(
        "body_text", names, shown, [shown] if numbered else None
    )


def _examples(field: str, names: list[str], shown: list[str], numbered: list[Any] | None) -> dict[str, Any]:
    if not names:
        return {}
    if numbered is not None:
        return {"example": {field: numbered}}
    named = [{"param_name": name, "example": example} for name, example in zip(names, shown, strict=True)]
    return {"example": {f"{field}_named_params": named}}


def _example(body: Mapping[str, Any], name: str) -> str:
    return str(body["examples"].get(name) or name.replace("_", " "))


def _button(body: Mapping[str, Any], button: Mapping[str, Any]) -> dict[str, Any]:
    shown = [quote(_example(body, name)) for name in _named(button.get("url", ""))]
    told = {name: button[name] for name in BUTTON_MEMBERS if name in button}
    return {**told, "example": shown} if shown else told
