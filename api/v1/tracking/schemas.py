"""What the tracking routes accept and what they answer, field by field."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from marshmallow import Schema, ValidationError, fields

from api.bodies import Text
from api.body_fields import HOST, HTTPS, LONGEST_HOST, MOST_HOSTS, Flag, HostList, Whole

LONGEST_URL = 2000
_OF_CHATS = "Kept and told, without effect so far: no chat link carries a token of the visitor."
_GPC = "Whether a browser's Global Privacy Control is followed."
_IDLE = "Minutes without an event after which a visit ends."
_TYPED = "Whether the tracker reads e-mails and phones that people type; never on healthcare profiles."


class TrackingKeyBody(Schema):
    name = Text(80, required=True, metadata={"description": "What people call it."})
    allowed_hosts = HostList(
        load_default=list,
        metadata={
            "description": f"Hosts it collects from, their subdomains meant too; up to {MOST_HOSTS}, none for any host."
        },
    )


class TrackingKeyShape(Schema):
    is_paged = True

    id = fields.UUID(required=True, metadata={"description": "The key, for DELETE /tracking/keys/{id}."})
    key = fields.String(required=True, metadata={"description": "Public by nature: every page of the site shows it."})
    name = fields.String(required=True, metadata={"description": "What people call it."})
    allowed_hosts = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Hosts it collects from, their subdomains too; empty for any host."},
    )
    status = fields.String(
        required=True, metadata={"enum": ["active", "revoked"], "description": "revoked: the collector refuses it."}
    )
    created_at = fields.DateTime(required=True)
    last_seen_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When something was last collected with it; null before the first."},
    )


class TrackerSettingsBody(Schema):
    """What to change; a member left out keeps its value."""

    capture_typed_identity = Flag(metadata={"description": _TYPED})
    session_idle_minutes = Whole(1, 120, metadata={"description": _IDLE})
    chat_token_enabled = Flag(metadata={"description": _OF_CHATS})
    respect_gpc = Flag(metadata={"description": _GPC})


class TrackerSettingsShape(Schema):
    capture_typed_identity = fields.Boolean(required=True, metadata={"description": _TYPED})
    session_idle_minutes = fields.Integer(required=True, metadata={"description": _IDLE})
    chat_token_enabled = fields.Boolean(required=True, metadata={"description": _OF_CHATS})
    respect_gpc = fields.Boolean(required=True, metadata={"description": _GPC})


class PageUrl(Text):
    """An https address of a page at a named host; loads as it was sent. Nobody ever asks for it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(LONGEST_URL, low=9, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not is_page(text):
            raise ValidationError("must be an https address such as https://shop.example/page")
        return text


def is_page(text: str) -> bool:
    """Whether this is an https address of a named host, without credentials or signs that no address holds."""
    if not text.isascii() or not text.isprintable() or any(sign in text for sign in ' "<>\\^`{|}'):
        return False
    try:
        parts = urlsplit(text)
        has_odd_port = parts.port is not None and not 0 < parts.port < 65536
    except ValueError:
        return False
    host = parts.hostname or ""
    named = len(host) <= LONGEST_HOST and HOST.fullmatch(host) is not None and not host.rpartition(".")[2].isdigit()
    return parts.scheme == "https" and "@" not in parts.netloc and named and not has_odd_port


class VerificationBody(Schema):
    url = PageUrl(
        required=True,
        metadata={"format": "uri", "pattern": HTTPS, "description": "A page that carries the tracker; https."},
    )


class VerificationMade(Schema):
    id = fields.UUID(required=True, metadata={"description": "Ask GET /tracking/verifications/{id} how it stands."})
    nonce = fields.String(
        required=True, metadata={"description": "What the page's tracker is to report; verify_url carries it."}
    )
    verify_url = fields.String(
        required=True, metadata={"description": "The page to open in a browser; its tracker reports the nonce."}
    )
    expires_at = fields.DateTime(required=True, metadata={"description": "Until when the page may be opened."})


class VerificationShape(Schema):
    id = fields.UUID(required=True, metadata={"description": "The verification."})
    status = fields.String(
        required=True,
        metadata={
            "enum": ["pending", "verified", "expired"],
            "description": "pending: not reported so far; verified: the page's tracker reported it; expired: not"
            " in time.",
        },
    )
    seen_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When the tracker reported it; null before."}
    )
    page_host = fields.String(
        required=True, allow_none=True, metadata={"description": "Host of the page that reported it; null before."}
    )
    expires_at = fields.DateTime(required=True, metadata={"description": "Until when the page may be opened."})
