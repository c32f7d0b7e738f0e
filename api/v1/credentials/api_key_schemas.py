"""What the routes of API keys accept and answer."""

from __future__ import annotations

import ipaddress
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.actors import ActorShape
from api.bodies import Text
from api.fields import Choice
from api.op_lists import ListQuery
from api.scopes import DEFAULT_SCOPES, Scope

STATUSES = ("active", "expiring", "expired", "revoked")
MOST_NETWORKS = 20
_UUID = {"format": "uuid"}


class Network(fields.String):
    """A network in CIDR, or one address; loads in its canonical form."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = str(super()._deserialize(value, attr, data, **kwargs))
        try:
            return str(ipaddress.ip_network(text))
        except ValueError:
            raise ValidationError("must be a network such as 203.0.113.0/24, without bits set beyond it") from None


class KeyQuery(ListQuery):
    status = Choice((*STATUSES, "all"), load_default="all", metadata={"description": "Only keys in this state."})


class KeyBody(Schema):
    profile_id = fields.UUID(required=True, metadata={"description": "The one profile that the key opens."})
    name = Text(80, required=True, metadata={"description": "What lists call the key; not unique."})
    scopes = fields.List(
        Choice(scope.value for scope in Scope),
        load_default=lambda: [scope.value for scope in DEFAULT_SCOPES],
        validate=validate.Length(1, len(Scope), error="holds at least one scope, and no more than there are"),
        metadata={"description": "What the key may do; at most what the caller may."},
    )
    expires_in_days = fields.Integer(
        strict=True,
        load_default=None,
        validate=validate.Range(1, 3650, error="must be from 1 to 3650"),
        metadata={"description": "Days until it ends by itself; it does not where this is left out."},
    )
    allowed_ips = fields.List(
        Network(),
        load_default=list,
        validate=validate.Length(0, MOST_NETWORKS, error=f"holds more than {MOST_NETWORKS} networks"),
        metadata={"description": "Networks the key works from; from everywhere if empty."},
    )


class ApiKeyRow(Schema):
    """One API key of one profile."""

    is_paged = True

    id = fields.String(required=True, metadata={**_UUID, "description": "The key, by an id that opens nothing."})
    profile_id = fields.String(required=True, metadata=_UUID)
    profile_name = fields.String(required=True)
    name = fields.String(
        required=True, metadata={"description": "What it was called when it was made; of an app's key the app's name."}
    )
    prefix = fields.String(required=True, metadata={"description": "How the key begins."})
    scopes = fields.List(fields.String(), required=True)
    status = fields.String(
        required=True, metadata={"enum": list(STATUSES), "description": "expiring: rotated, and still working."}
    )
    app_id = fields.String(
        required=True, allow_none=True, metadata={"description": "Whose partner key it is; null for people's keys."}
    )
    allowed_ips = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Networks it works from, in CIDR; empty: from everywhere."},
    )
    created_by = fields.Nested(ActorShape, required=True)
    created_at = fields.DateTime(required=True)
    last_used_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "To the minute; null before the first use."}
    )
    expires_at = fields.DateTime(required=True, allow_none=True)
    revoked_at = fields.DateTime(required=True, allow_none=True)
    rotated_from_id = fields.String(
        required=True,
        allow_none=True,
        metadata={**_UUID, "description": "The key whose place it took; null where it took none."},
    )
    rotated_to_id = fields.String(
        required=True,
        allow_none=True,
        metadata={**_UUID, "description": "The key that took its place; null where none did."},
    )


class MintedKey(ApiKeyRow):
    key = fields.String(
        required=True, allow_none=True, metadata={"description": "`tl_live_…`; shown this once, null in a replay."}
    )


class Previous(Schema):
    id = fields.String(required=True, metadata={**_UUID, "description": "The key that was replaced."})
    expires_at = fields.DateTime(
        required=True,
        metadata={"description": "When it ends: after 48 hours, or earlier where it would have ended anyway."},
    )


class RotatedKey(MintedKey):
    previous = fields.Nested(Previous, required=True)
