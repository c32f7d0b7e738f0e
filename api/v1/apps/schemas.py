"""What the routes of registered apps accept and answer, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from marshmallow import Schema, ValidationError, fields, validate

from api import app_names
from api.actors import ActorShape
from api.bodies import NeedsOne, Text
from api.dpa import STATES
from api.scopes import CONNECT_SCOPES

STATUSES = ("active", "suspended")
LONGEST_URL = 2000
MOST_REDIRECTS = 10
MOST_GRACE_DAYS = 90
_REDIRECTS = "Where people may be sent back to, compared character by character."
_ASKS = "What the app may ask people for."


class HttpsUrl(Text):
    """An absolute https address with a host, and without user or fragment."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        form = {"format": "uri", "pattern": "^https://"}
        super().__init__(LONGEST_URL, metadata={**(metadata or {}), **form}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            parts = urlsplit(text)
            # the port is read for its ValueError
            whole = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
        except ValueError:
            whole = False
        if not whole or "#" in text or "@" in parts.netloc or not text.isprintable() or " " in text:
            raise ValidationError("must be an https address without user or fragment")
        return text


class AppName(Text):
    """What people see, so that it holds nothing unseen."""

    def __init__(self, **kwargs: Any) -> None:
        about = {"description": "Shown to people who are asked for access; no other app has one that reads the same."}
        super().__init__(app_names.LONGEST, metadata=about, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if text and len(text) <= app_names.LONGEST and not app_names.is_plain(text):
            raise ValidationError("holds a line break or a character that is not seen")
        return text


def _redirects(**options: Any) -> fields.List[str]:
    within = validate.Length(1, MOST_REDIRECTS, error=f"must hold 1 to {MOST_REDIRECTS} addresses")
    about = {"description": _REDIRECTS}
    return fields.List(HttpsUrl(), validate=within, metadata=about, **options)


def _connect_scopes(**options: Any) -> fields.List[str]:
    known = validate.OneOf(tuple(CONNECT_SCOPES), error=f"must be one of {', '.join(CONNECT_SCOPES)}")
    within = validate.Length(max=len(CONNECT_SCOPES), error="names a scope twice")
    about = {"description": _ASKS}
    return fields.List(fields.String(validate=known), validate=within, metadata=about, **options)


class AppBody(Schema):
    """A new app."""

    name = AppName(required=True)
    description = Text(
        500,
        low=0,
        load_default=None,
        allow_none=True,
        metadata={"description": "What the app is for; null or left out: none."},
    )
    logo_url = HttpsUrl(
        load_default=None,
        allow_none=True,
        metadata={"description": "An https address of the logo; null or left out: none."},
    )
    redirect_uris = _redirects(required=True)
    connect_scopes = _connect_scopes(load_default=list)


class AppChange(NeedsOne):
    """What to change; a member left out keeps its value."""

    name = AppName()
    description = Text(
        500, low=0, allow_none=True, metadata={"description": "What the app is for; null takes it away."}
    )
    logo_url = HttpsUrl(allow_none=True, metadata={"description": "An https address of the logo; null takes it away."})
    redirect_uris = _redirects()
    connect_scopes = _connect_scopes()
    status = fields.String(
        validate=validate.OneOf(STATUSES, error=f"must be one of {', '.join(STATUSES)}"),
        metadata={"description": "Suspending revokes every key of the app at once; they stay revoked."},
    )


class RotateBody(Schema):
    grace_days = fields.Integer(
        strict=True,
        load_default=7,
        validate=validate.Range(0, MOST_GRACE_DAYS, error=f"must be from 0 to {MOST_GRACE_DAYS}"),
        metadata={"description": "Days for which the secrets so far still work."},
    )


class DpaShape(Schema):
    """Where an app stands with the data processing agreement."""

    state = fields.String(
        required=True,
        metadata={
            "enum": list(STATES),
            "description": "outdated: an older version was accepted; exports go on for 30 days after a new one.",
        },
    )
    version = fields.String(
        required=True, allow_none=True, metadata={"description": "The version that was signed; null before any."}
    )
    current_version = fields.String(required=True, metadata={"description": "The version that is to be accepted now."})
    accepted_by = fields.Nested(
        ActorShape,
        required=True,
        allow_none=True,
        metadata={"description": "Who accepted `version`; null where nobody did."},
    )
    accepted_at = fields.DateTime(required=True, allow_none=True)
    withdrawn_at = fields.DateTime(required=True, allow_none=True)


class AppShape(Schema):
    """One app that the workspace registered."""

    is_paged = True

    app_id = fields.UUID(required=True)
    client_id = fields.String(required=True)
    name = fields.String(
        required=True,
        metadata={"description": "What people see who are asked for access; no other app has one that reads the same."},
    )
    description = fields.String(
        required=True, allow_none=True, metadata={"description": "What the app is for; null where nothing is said."}
    )
    logo_url = fields.String(
        required=True, allow_none=True, metadata={"description": "An https address of the logo; null without one."}
    )
    redirect_uris = fields.List(fields.String(), required=True, metadata={"description": _REDIRECTS})
    connect_scopes = fields.List(fields.String(), required=True, metadata={"description": _ASKS})
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "suspended: its keys are revoked, and its credential opens nothing.",
        },
    )
    profiles_count = fields.Integer(required=True, metadata={"description": "Live profiles provisioned or adopted."})
    created_at = fields.DateTime(required=True)
    dpa = fields.Nested(DpaShape, required=True)


class NewApp(AppShape):
    client_secret = fields.String(
        required=True, allow_none=True, metadata={"description": "Shown this once; null in a replay."}
    )


class NewSecret(Schema):
    client_secret = fields.String(
        required=True, allow_none=True, metadata={"description": "Shown this once; null in a replay."}
    )
    previous_expires_at = fields.DateTime(
        required=True, metadata={"description": "When the last of the secrets so far ends."}
    )


class DpaText(Schema):
    """The agreement that is to be accepted now."""

    version = fields.String(required=True, metadata={"description": "Version of this text; an acceptance quotes it."})
    texts = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        metadata={"description": "By language, `en` and `es`; each is the whole agreement."},
    )
    text_hash = fields.String(
        required=True, metadata={"description": "SHA-256 of the English text followed by the Spanish one, in UTF-8."}
    )


class DpaBody(Schema):
    """A signature; version and text_hash say which text was read."""

    version = Text(16, required=True, metadata={"description": "`version` of the text that was read."})
    text_hash = Text(64, required=True, metadata={"description": "`text_hash` of the text that was read."})
    signatory_name = Text(120, required=True, metadata={"description": "Who signs for the workspace."})
    signatory_title = Text(120, required=True, metadata={"description": "Their position there."})


class DpaAccepted(DpaShape):
    profiles_covered = fields.Integer(required=True, metadata={"description": "Live profiles that the app provisions."})


class WithdrawBody(Schema):
    reason = Text(
        500,
        low=0,
        load_default=None,
        allow_none=True,
        metadata={"description": "Kept with the withdrawal."},
    )


class DpaWithdrawn(DpaShape):
    exports_gated = fields.Integer(
        required=True, metadata={"description": "Live profiles of the app whose exports are held back."}
    )
