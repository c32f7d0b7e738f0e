"""What the chat app's routes accept and answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.bodies import Text
from api.body_fields import Uuid
from api.envelopes import Meta
from api.fields import OpaqueId
from connectors.chatapp import QUALITIES

NAME = "[a-z0-9_]{1,512}"
LANGUAGE = "[A-Za-z]{2,3}(_[A-Za-z0-9]{2,6})?"
CATEGORIES = ("AUTHENTICATION", "MARKETING", "UTILITY")
MEDIA = ("image", "video", "document")
# what each kind of button says besides its text, and how many of it there may be
BUTTONS = {"QUICK_REPLY": ((), 10), "URL": (("url",), 2), "PHONE_NUMBER": (("phone_number",), 1),
           "FLOW": (("flow_id",), 1)}  # fmt: skip
FLOW_ONLY = ("navigate_screen", "flow_action")

_CATEGORY = "What it is for, in the platform's words."
_CHAT_ACCOUNT = "The connection of the chat account."
_LANGUAGE = "Its language, as `en_US`; each language of a name is a template."
_TEMPLATE_NAME = "Its name, the same in every language."


class HttpsUrl(Text):
    """An https address of at most 2000 characters."""

    def __init__(self, metadata: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(2000, metadata={**metadata, "format": "uri", "pattern": "^https://"}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        url = str(super()._deserialize(value, attr, data, **kwargs))
        if not url.startswith("https://"):
            raise ValidationError("must begin with https://")
        return url


class ButtonBody(Schema):
    """A button: QUICK_REPLY, or URL with url, PHONE_NUMBER with phone_number, FLOW with flow_id."""

    type = fields.String(
        required=True,
        validate=validate.OneOf(tuple(BUTTONS)),
        metadata={"description": "What it does: answer, open a page, call, or open a form of the chat app."},
    )
    text = Text(25, required=True, metadata={"description": "What it says."})
    url = HttpsUrl(
        metadata={"description": "Page that a URL button opens; its placeholders take examples as texts do."}
    )
    phone_number = Text(20, low=5, metadata={"description": "Number that a PHONE_NUMBER button calls."})
    flow_id = Text(64, metadata={"description": "Form that a FLOW button opens, by the platform's id."})
    navigate_screen = Text(64, metadata={"description": "Screen of the form that it begins with; of FLOW alone."})
    flow_action = fields.String(
        validate=validate.OneOf(("navigate", "data_exchange")),
        metadata={
            "description": "navigate: open that screen; data_exchange: ask the form's own server. Of FLOW alone."
        },
    )

    @validates_schema
    def _fits_its_type(self, button: dict[str, Any], **_kwargs: Any) -> None:
        needed, _ = BUTTONS[button["type"]]
        allowed = {"type", "text", *needed, *(FLOW_ONLY if button["type"] == "FLOW" else ())}
        for name in needed:
            if name not in button:
                raise ValidationError(f"is required on a {button['type']} button", name)
        for name in button:
            if name not in allowed:
                raise ValidationError(f"does not belong on a {button['type']} button", name)


class HeaderMediaBody(Schema):
    """A sample for the header, fetched from this address."""

    type = fields.String(required=True, validate=validate.OneOf(MEDIA), metadata={"description": "What it is."})
    url = HttpsUrl(required=True, metadata={"description": "Where it is fetched from, once."})


class TemplateBody(Schema):
    """A template to hand in. header_text and header_media exclude each other.

    As a form, the part `payload` holds this and the part `header_media` the sample itself.
    """

    payload_part = "payload"

    connection_id = Uuid(required=True, metadata={"description": _CHAT_ACCOUNT})
    name = fields.String(
        required=True,
        validate=validate.Regexp(rf"{NAME}\Z", error="has other signs than a-z, 0-9 and _"),
        metadata={"description": _TEMPLATE_NAME},
    )
    category = fields.String(required=True, validate=validate.OneOf(CATEGORIES), metadata={"description": _CATEGORY})
    language = fields.String(
        required=True,
        validate=validate.Regexp(rf"{LANGUAGE}\Z", error="is no code like en_US"),
        metadata={"description": _LANGUAGE},
    )
    body_text = Text(
        1024,
        required=True,
        metadata={"description": "The message; placeholders are `{{first_name}}`, or `{{1}}` and so on, never both."},
    )
    header_text = Text(60, metadata={"description": "A line above the message; it may hold placeholders."})
    footer_text = Text(60, metadata={"description": "A line below the message, without placeholders."})
    buttons = fields.List(
        fields.Nested(ButtonBody),
        validate=validate.Length(max=10),
        metadata={"description": "Buttons below the message; none when left out."},
    )
    header_media = fields.Nested(HeaderMediaBody)
    examples = fields.Dict(
        keys=Text(64),
        values=Text(200),
        load_default=dict,
        metadata={
            "description": "An example for each placeholder, by its name, for whoever reviews it; the name"
            " itself when left out."
        },
    )

    @validates_schema
    def _fits_together(self, template: dict[str, Any], **_kwargs: Any) -> None:
        if "header_text" in template and "header_media" in template:
            raise ValidationError("excludes header_media", "header_text")
        kinds = [button["type"] for button in template.get("buttons", [])]
        for kind, (_, most) in BUTTONS.items():
            if kinds.count(kind) > most:
                raise ValidationError(f"holds more than {most} of type {kind}", "buttons")


class Created(Schema):
    id = fields.String(required=True, metadata={"description": "The platform's id."})
    name = fields.String(required=True, metadata={"description": _TEMPLATE_NAME})
    language = fields.String(required=True, metadata={"description": _LANGUAGE})
    status = fields.String(
        required=True, metadata={"description": "As the platform spells it: PENDING while it is reviewed."}
    )


class SyncBody(Schema):
    connection_id = Uuid(required=True, metadata={"description": _CHAT_ACCOUNT})


class Template(Schema):
    """A template as the platform last showed it; one that is gone there is DELETED."""

    id = fields.String(
        required=True, allow_none=True, metadata={"description": "The platform's id; null where it tells none."}
    )
    name = fields.String(required=True, metadata={"description": _TEMPLATE_NAME})
    language = fields.String(required=True, metadata={"description": _LANGUAGE})
    category = fields.String(
        required=True, allow_none=True, metadata={"description": f"{_CATEGORY[:-1]}; null where it tells none."}
    )
    status = fields.String(
        required=True,
        metadata={
            "description": "As the platform spells it, such as PENDING, APPROVED and REJECTED; DELETED: gone there."
        },
    )
    quality_score = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": [*QUALITIES, None],
            "description": "How people take it, by the platform's own rating; UNKNOWN before it has one; null where it"
            " tells none.",
        },
    )
    components = fields.List(
        fields.Dict(),
        required=True,
        allow_none=True,
        metadata={"description": "Its parts as the platform tells them; null where it does not."},
    )
    status_changed_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When it was first seen in this status; null where that is not known."},
    )
    last_synced_at = fields.DateTime(
        required=True, metadata={"description": "When it was last read from the platform, or found gone."}
    )


class SyncSummary(Schema):
    upserted = fields.Integer(required=True, metadata={"description": "Templates that the platform shows."})
    deleted = fields.Integer(required=True, metadata={"description": "Templates that it does not show any more."})
    statusChanges = fields.Integer(
        required=True, metadata={"description": "Templates known before whose status is another, deleted ones too."}
    )


class SyncMeta(Meta):
    summary = fields.Nested(SyncSummary, required=True)


class SyncedTemplate(Template):
    """A template as the platform shows it now; one that is gone there is DELETED."""

    meta_schema = SyncMeta


class ConnectionQuery(Schema):
    connection_id = Uuid(required=True, metadata={"description": "The chat account."})


class TemplateQuery(ConnectionQuery):
    language = OpaqueId(
        load_default=None, metadata={"description": "Only in this language, as `en_US`; in every one where absent."}
    )


class MediaLink(Schema):
    url = fields.String(required=True, metadata={"format": "uri", "description": "Signed; opens until expires_at."})
    mime_type = fields.String(required=True, metadata={"description": "What the bytes are, as the platform says."})
    size_bytes = fields.Integer(required=True, metadata={"description": "How many bytes it has."})
    expires_at = fields.DateTime(
        required=True, metadata={"description": "When the address stops to open; ask again for a new one."}
    )
