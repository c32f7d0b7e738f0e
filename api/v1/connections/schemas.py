"""What the connection routes accept and answer."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.body_fields import Uuid
from api.fields import OpaqueId
from api.v1.billing.schemas import OpenedHandoff
from api.v1.branding.schemas import HttpsUrl
from api.windows import OptionalDateRangeQuery

STATUSES = ("pending", "pending_selection", "active", "needs_action", "reconnect_required", "disconnected")
PROVIDERS = ("meta", "google", "tiktok", "shopify", "payments", "chatapp", "social")
KINDS = ("ads", "store", "payments", "messaging")
SYNC_STATUSES = ("queued", "running", "done", "failed")

_CURRENCY = "The account's, ISO 4217; null where the provider does not tell."
_PROVIDER = "Where the account is; meta, google and tiktok are ad platforms, chatapp and social bring messages."
_STATUS = (
    "pending: nobody has let us in yet. pending_selection: an account is to be chosen. active: it is read."
    " needs_action: a right is missing there. reconnect_required: its token is dead. disconnected: it was ended here."
)
_TIMEZONE = "The account's IANA time zone, whose days its figures are of; null where the provider does not tell."


class SyncShape(Schema):
    """The newest pull of a connection."""

    status = fields.String(
        required=True,
        metadata={
            "enum": list(SYNC_STATUSES),
            "description": "done: all that was due is here; failed: error tells why.",
        },
    )
    started_at = fields.DateTime(required=True, allow_none=True)
    finished_at = fields.DateTime(required=True, allow_none=True)
    delivery_through = fields.Date(
        required=True,
        allow_none=True,
        metadata={"description": "Last account day that is here whole; null before one, and of what has no ads."},
    )
    error = fields.String(
        required=True, allow_none=True, metadata={"description": "Why it failed, as a slug; null unless it did."}
    )


class ConnectionShape(Schema):
    """One account at one provider; never its token."""

    connection_id = fields.UUID(required=True)
    provider = fields.String(required=True, metadata={"enum": list(PROVIDERS), "description": _PROVIDER})
    kind = fields.String(
        required=True,
        metadata={"enum": list(KINDS), "description": "What it brings: an ad account, a store, payments, or messages."},
    )
    display_name = fields.String(required=True, metadata={"description": "The account's name at the provider."})
    external_account_id = fields.String(
        required=True, allow_none=True, metadata={"description": "Null until an account was chosen."}
    )
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "description": _STATUS})
    status_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Why it needs somebody, or why the newest call failed or was not made (provider_silent:"
            " other accounts there got no answer), as a slug; null after a good one."
        },
    )
    scopes_granted = fields.List(fields.String(), required=True, metadata={"description": "As the provider told."})
    login_kind = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": ["page_linked", "direct", None], "description": "Of social; null for all else."},
    )
    currency = fields.String(required=True, allow_none=True, metadata={"description": _CURRENCY})
    timezone = fields.String(required=True, allow_none=True, metadata={"description": _TIMEZONE})
    last_sync = fields.Nested(
        SyncShape,
        required=True,
        allow_none=True,
        metadata={"description": "The newest pull, also one that waits or runs; null before the first."},
    )
    created_at = fields.DateTime(required=True)


class ConnectionRow(ConnectionShape):
    """One account in the list of all."""

    is_paged = True


class ConnectionEnded(Schema):
    """A connection that ended; its data stays."""

    connection_id = fields.UUID(required=True)
    status = fields.String(
        required=True, metadata={"enum": ["disconnected"], "description": "Always disconnected: its token is deleted."}
    )


class ConnectBody(Schema):
    provider = fields.String(
        required=True,
        validate=validate.OneOf(PROVIDERS, error=f"must be one of {', '.join(PROVIDERS)}"),
        metadata={"description": _PROVIDER},
    )
    return_url = HttpsUrl(load_default=None)
    reconnect_connection_id = Uuid(
        load_default=None,
        metadata={
            "description": "The connection that gets a new token, for the same account; a new one is begun when"
            " left out."
        },
    )


class ConnectHandoff(OpenedHandoff):
    """The page to send a person to, which says who asks and leads on to the provider's, and what it is for."""

    connection_id = fields.UUID(required=True)


class CandidateShape(Schema):
    """An account that the person let us in to."""

    external_account_id = fields.String(
        required=True,
        metadata={"description": "The provider's id of the account, for POST /connections/{id}/finalize."},
    )
    name = fields.String(required=True, metadata={"description": "Its name at the provider."})
    currency = fields.String(required=True, allow_none=True, metadata={"description": _CURRENCY})
    timezone = fields.String(required=True, allow_none=True, metadata={"description": _TIMEZONE})
    selectable = fields.Boolean(
        required=True, metadata={"description": "Whether it can be chosen; reason tells why not."}
    )
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": ["account_connected_elsewhere", "account_disabled", None],
            "description": "Why it cannot be chosen; null where it can.",
        },
    )


class FinalizeBody(Schema):
    external_account_ids = fields.List(
        OpaqueId(),
        required=True,
        validate=validate.Length(1, 20, error="must hold 1 to 20 ids"),
        metadata={
            "description": "Accounts to connect, of GET /connections/{id}/accounts; the first becomes this connection."
        },
    )


class SyncDays(OptionalDateRangeQuery):
    """Days of delivery to pull beside those that may still be revised: both dates or neither."""


class SyncAsked(Schema):
    """A sync that is open."""

    id = fields.UUID(required=True, metadata={"description": "The sync."})
    status = fields.String(
        required=True,
        metadata={
            "enum": list(SYNC_STATUSES),
            "description": "queued or running: how it went is in last_sync of GET /connections/{id}.",
        },
    )
