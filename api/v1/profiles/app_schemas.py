"""What apps send about profiles of theirs, and what they are told."""

from __future__ import annotations

import marshmallow as ma
from marshmallow import fields

from api.bodies import Text
from api.body_fields import Flag


class EndedWithProfile(ma.Schema):
    """What the archive ended, and what it left as evidence."""

    api_keys_revoked = fields.Integer(required=True)
    memberships_removed = fields.Integer(required=True)
    invitations_revoked = fields.Integer(required=True)
    connections_disconnected = fields.Integer(required=True)
    destinations_disabled = fields.Integer(required=True)
    retained_conversion_exports = fields.Integer(required=True)
    retained_signal_audit_rows = fields.Integer(required=True)


class ProfileArchived(ma.Schema):
    """An archived profile; `archived` says whether this call did it."""

    profile_id = fields.UUID(required=True)
    archived = fields.Boolean(required=True)
    archived_at = fields.DateTime(required=True)
    counts = fields.Nested(EndedWithProfile, required=True, metadata={"description": "Of this call; 0 for a repeat."})


class AdoptBody(ma.Schema):
    """The app's own name for the profile."""

    external_ref = Text(128, required=True)


class Adopted(ma.Schema):
    """A profile that an app may now name; `adopted` says whether this call did it."""

    profile_id = fields.UUID(required=True)
    workspace_id = fields.UUID(required=True)
    external_ref = fields.String(required=True)
    adopted = fields.Boolean(required=True)
    adopted_at = fields.DateTime(required=True)


class EntitlementBody(ma.Schema):
    """Whether the feature is on."""

    enabled = Flag(required=True)


class EntitlementAnswer(ma.Schema):
    """A feature as it now is."""

    profile_id = fields.UUID(required=True)
    feature = fields.String(required=True)
    enabled = fields.Boolean(required=True)
    changed = fields.Boolean(required=True)
    updated_at = fields.DateTime(required=True)
