"""What the branding routes accept and answer, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from marshmallow import Schema, ValidationError, fields, validate

from api.bodies import Email, Text
from api.body_fields import HOST, HTTPS

LOCALES = ("en", "es")
COLOR = r"^#[0-9A-Fa-f]{6}\Z"
MOST_LOGO_BYTES = 5 * 1024 * 1024
MOST_LOGO_PIXELS = 4096
_MAIN = "`#RRGGBB`, the first colour of reports and shared pages; null: the service's own."
_SECOND = "`#RRGGBB`, their second colour; null: the service's own."
_SITE = "An https address that reports and shared pages link to; null: none."


class HttpsUrl(Text):
    """An absolute https address of a named host, without user, password or fragment."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(500, metadata={**(metadata or {}), "format": "uri", "pattern": HTTPS}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            parts = urlsplit(text)
            host, _ = parts.hostname or "", parts.port
        except ValueError:
            raise ValidationError("must be an https address") from None
        bare = parts.scheme == "https" and "@" not in parts.netloc and not parts.fragment
        if not bare or not HOST.fullmatch(host) or any(sign.isspace() or sign in "<>\"'\\`" for sign in text):
            raise ValidationError("must be an https address, such as https://shop.example/about")
        return text


class BrandingBody(Schema):
    """What is absent stays as it is; null clears."""

    display_name = Text(120, allow_none=True, metadata={"description": "Shown where the workspace's name would be."})
    primary_color = fields.String(
        allow_none=True,
        validate=validate.Regexp(COLOR, error="must be #RRGGBB"),
        metadata={
            "pattern": COLOR,
            "description": _MAIN,
        },
    )
    accent_color = fields.String(
        allow_none=True,
        validate=validate.Regexp(COLOR, error="must be #RRGGBB"),
        metadata={"pattern": COLOR, "description": _SECOND},
    )
    sender_name = Text(120, allow_none=True, metadata={"description": "Name of the sender of reports."})
    reply_to_email = Email(allow_none=True, metadata={"description": "Where answers to reports go."})
    website_url = HttpsUrl(allow_none=True, metadata={"description": _SITE})
    report_footer = Text(500, allow_none=True, metadata={"description": "Printed under every report."})
    locale = fields.String(
        allow_none=True,
        validate=validate.OneOf(LOCALES, error="must be en or es"),
        metadata={"description": "Language of reports unless one is asked for; null is en."},
    )


class BrandingRow(Schema):
    display_name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Shown where the workspace's name would be; null: that name."},
    )
    logo_url = fields.String(
        required=True,
        allow_none=True,
        metadata={"format": "uri", "description": "Public; another with every upload; null without one."},
    )
    primary_color = fields.String(required=True, allow_none=True, metadata={"description": _MAIN})
    accent_color = fields.String(required=True, allow_none=True, metadata={"description": _SECOND})
    sender_name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Name that reports are mailed under; null: this deployment's own."},
    )
    reply_to_email = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Where answers to mailed reports go; null: to the sender."},
    )
    website_url = fields.String(required=True, allow_none=True, metadata={"description": _SITE})
    report_footer = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Printed under reports and shared pages; null: in a PDF the brand's and profile's names."
        },
    )
    locale = fields.String(
        required=True,
        metadata={
            "enum": list(LOCALES),
            "description": "Language of reports and shared pages unless one is asked for; en if none was set.",
        },
    )
    updated_at = fields.DateTime(required=True, allow_none=True, metadata={"description": "Null: never set."})


class Logo(Schema):
    logo_url = fields.String(
        required=True,
        metadata={"format": "uri", "description": "Public address of the picture; another with every upload."},
    )
    width = fields.Integer(required=True, metadata={"description": "In pixels."})
    height = fields.Integer(required=True, metadata={"description": "In pixels."})
    mime_type = fields.String(
        required=True,
        metadata={"enum": ["image/png", "image/jpeg", "image/webp"], "description": "What it is by its content."},
    )


class Deleted(Schema):
    deleted = fields.Boolean(required=True, metadata={"description": "False when there was none."})
