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


class SyncShape(Schema):
    """The newest pull of a connection."""

    status = fields.String(required=True, metadata={"enum": list(SYNC_STATUSES)})
    started_at = fields.DateTime(required=True, allow_none=True)
    finished_at = fields.DateTime(required=True, allow_none=True)
    delivery_through = fields.Date(
        required=True, allow_none=True, metadata={"description": "Last account day that is here whole."}
    )
    error = fields.String(required=True, allow_none=True, metadata={"description": "Why it failed, as a slug."})


class ConnectionShape(Schema):
    """One account at one provider; never its token."""

    connection_id = fields.UUID(required=True)
    provider = fields.String(required=True, metadata={"enum": list(PROVIDERS)})
    kind = fields.String(required=True, metadata={"enum": list(KINDS)})
    display_name = fields.String(required=True)
    external_account_id = fields.String(
        required=True, allow_none=True, metadata={"description": "Null until an account was chosen."}
    )
    status = fields.String(required=True, metadata={"enum": list(STATUSES)})
    status_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Why it needs somebody, or why the newest call failed, as a slug; null after a good one."
        },
    )
    scopes_granted = fields.List(fields.String(), required=True, metadata={"description": "As the provider told."})
    login_kind = fields.String(
        required=True, allow_none=True, metadata={"enum": ["page_linked", "direct", None], "description": "Of social."}
    )
    currency = fields.String(required=True, allow_none=True)
    timezone = fields.String(required=True, allow_none=True)
    last_sync = fields.Nested(SyncShape, required=True, allow_none=True)
    created_at = fields.DateTime(required=True)


class ConnectionRow(ConnectionShape):
    """One account in the list of all."""

    is_paged = True


class ConnectionEnded(Schema):
    """A connection that ended; its data stays."""

    connection_id = fields.UUID(required=True)
    status = fields.String(required=True, metadata={"enum": ["disconnected"]})


class ConnectBody(Schema):
    provider = fields.String(
        required=True, validate=validate.OneOf(PROVIDERS, error=f"must be one of {', '.join(PROVIDERS)}")
    )
    return_url = HttpsUrl(load_default=None)
    reconnect_connection_id = Uuid(load_default=None)


class ConnectHandoff(OpenedHandoff):
    """The page to send a person to, which says who asks and leads on to the provider's, and what it is for."""

    connection_id = fields.UUID(required=True)


class CandidateShape(Schema):
    """An account that the person let us in to."""

    external_account_id = fields.String(required=True)
    name = fields.String(required=True)
    currency = fields.String(required=True, allow_none=True)
    timezone = fields.String(required=True, allow_none=True)
    selectable = fields.Boolean(required=True)
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": ["account_connected_elsewhere", "account_disabled", None], "description": "Why not."},
    )


class FinalizeBody(Schema):
    external_account_ids = fields.List(
        OpaqueId(), required=True, validate=validate.Length(1, 20, error="must hold 1 to 20 ids")
    )


class SyncDays(OptionalDateRangeQuery):
    """Days of delivery to pull beside those that may still be revised: both dates or neither."""


class SyncAsked(Schema):
    """A sync that is open."""

    id = fields.UUID(required=True)
    status = fields.String(required=True, metadata={"enum": list(SYNC_STATUSES)})
