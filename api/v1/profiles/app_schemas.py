"""What apps send about profiles of theirs, and what they are told."""

from __future__ import annotations

import marshmallow as ma
from marshmallow import fields

from api.bodies import Text
from api.body_fields import Flag


class EndedWithProfile(ma.Schema):
    """What the archive ended, and what it left as evidence."""

    api_keys_revoked = fields.Integer(required=True, metadata={"description": "Keys that worked until then."})
    memberships_removed = fields.Integer(required=True, metadata={"description": "Guests' places on the profile."})
    invitations_revoked = fields.Integer(
        required=True, metadata={"description": "Open invitations to it, or to no other profile that lives."}
    )
    connections_disconnected = fields.Integer(
        required=True, metadata={"description": "Connections that were not disconnected before."}
    )
    destinations_disabled = fields.Integer(
        required=True, metadata={"description": "Export destinations that were switched on until then."}
    )
    retained_conversion_exports = fields.Integer(
        required=True, metadata={"description": "Rows of the ledger of exported conversions that stay as evidence."}
    )
    retained_signal_audit_rows = fields.Integer(
        required=True, metadata={"description": "Always 0: such rows are not kept yet."}
    )


class ProfileArchived(ma.Schema):
    """An archived profile; `archived` says whether this call did it."""

    profile_id = fields.UUID(required=True)
    archived = fields.Boolean(required=True, metadata={"description": "false: it was archived before, at archived_at."})
    archived_at = fields.DateTime(required=True)
    counts = fields.Nested(EndedWithProfile, required=True, metadata={"description": "Of this call; 0 for a repeat."})


class AdoptBody(ma.Schema):
    """The app's own name for the profile."""

    external_ref = Text(128, required=True, metadata={"description": "The app's own name for it, unique per app."})


class Adopted(ma.Schema):
    """A profile that an app may now name; `adopted` says whether this call did it."""

    profile_id = fields.UUID(required=True)
    workspace_id = fields.UUID(required=True)
    external_ref = fields.String(
        required=True, metadata={"description": "The app's name for it; of a repeat the first one."}
    )
    adopted = fields.Boolean(
        required=True, metadata={"description": "false: the app adopted or provisioned it before."}
    )
    adopted_at = fields.DateTime(
        required=True, metadata={"description": "When it became the app's; of a repeat the first time."}
    )


class EntitlementBody(ma.Schema):
    """Whether the feature is on."""

    enabled = Flag(required=True, metadata={"description": "true switches the feature on, false off."})


class EntitlementAnswer(ma.Schema):
    """A feature as it now is."""

    profile_id = fields.UUID(required=True)
    feature = fields.String(required=True, metadata={"description": "The feature, as in the path."})
    enabled = fields.Boolean(required=True, metadata={"description": "As it now stands."})
    changed = fields.Boolean(required=True, metadata={"description": "false: it stood so already."})
    updated_at = fields.DateTime(required=True)
