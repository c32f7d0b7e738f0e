"""What the routes of workspaces accept and answer, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from api import auth
from api.auth import Kind
from api.bodies import Email, Text
from api.body_fields import Currency, TimeZone
from api.fields import Flag
from api.op_lists import ListQuery

REQUESTED = ("starter", "growth", "agency")


class OwnWorkspaceBody(Schema):
    """A person's own workspace."""

    name = Text(
        120,
        required=True,
        metadata={"description": "Not unique; the same again within ten minutes finds the workspace made just before."},
    )
    timezone = TimeZone(load_default="UTC")
    plan = fields.String(
        load_default="starter",
        validate=validate.OneOf(REQUESTED, error=f"must be one of {', '.join(REQUESTED)}"),
        metadata={"description": "growth and agency begin with a trial."},
    )
    currency = Currency(load_default="USD")


class OwnerBody(Schema):
    """Who will own the workspace."""

    email = Email(required=True)
    first_name = Text(
        80,
        load_default=None,
        metadata={"description": "First name; not taken over by an account whose address is confirmed."},
    )
    last_name = Text(80, load_default=None, metadata={"description": "Last name, likewise."})


class ProvisionedWorkspaceBody(Schema):
    """A workspace that an app makes for one of its users."""

    name = Text(120, required=True, metadata={"description": "Not unique: every call makes another workspace."})
    timezone = TimeZone(load_default="UTC")
    user = fields.Nested(OwnerBody, required=True)


class WorkspaceBody(OwnWorkspaceBody):
    """Whose body it is follows from the credential: an app's names a user, a person's a plan."""

    user = fields.Nested(OwnerBody)

    def load(self, data: Any, **options: Any) -> Any:
        """What the caller's kind may send, and nothing else."""
        branch = ProvisionedWorkspaceBody if auth.current().kind is Kind.APP else OwnWorkspaceBody
        return branch().load(data, **options)


class Checkout(Schema):
    id = fields.UUID(required=True, metadata={"description": "Poll GET /handoffs/{id} with it."})
    url = fields.String(required=True, metadata={"description": "For whoever pays."})
    expires_at = fields.DateTime(required=True)


class Warning_(Schema):
    """Something that did not work beside what was asked for."""

    code = fields.String(
        required=True,
        metadata={
            "enum": ["checkout_unavailable"],
            "description": "checkout_unavailable: the workspace is there, and no page to pay on could be made.",
        },
    )
    message = fields.String(required=True, metadata={"description": "For people; may change."})


class CreatedWorkspace(Schema):
    """A workspace that was made, or found as made just before."""

    workspace_id = fields.UUID(required=True)
    name = fields.String(required=True, metadata={"description": "The name as it is kept, without spaces around it."})
    created = fields.Boolean(required=True, metadata={"description": "False for the repeat of a request."})
    checkout = fields.Nested(
        Checkout,
        required=True,
        allow_none=True,
        metadata={
            "description": "Where to pay for the plan; null for starter, a repeat or an app, or as `warnings` says."
        },
    )
    user_id = fields.UUID(metadata={"description": "The owner; told to apps."})
    warnings = fields.List(fields.Nested(Warning_), metadata={"description": "Absent when nothing went wrong."})


class WorkspaceChange(Schema):
    """What to change; a member left out stays as it is."""

    name = Text(120, metadata={"description": "The new name; it need not be unique."})
    timezone = TimeZone()


class ArchiveCounts(Schema):
    """How much an archive ended, and how much it left."""

    profiles_archived = fields.Integer(required=True, metadata={"description": "Profiles that were live until then."})
    memberships_removed = fields.Integer(
        required=True, metadata={"description": "People who were members, guests among them."}
    )
    invitations_revoked = fields.Integer(
        required=True, metadata={"description": "Invitations that were open, also those to a single profile."}
    )
    api_keys_revoked = fields.Integer(
        required=True, metadata={"description": "Keys of its profiles that worked until then."}
    )
    webhook_subscriptions_paused = fields.Integer(
        required=True, metadata={"description": "Subscriptions that were active or failed until then."}
    )
    retained_conversion_exports = fields.Integer(
        required=True, metadata={"description": "Rows of the ledger of exported conversions that stay as evidence."}
    )
    retained_signal_audit_rows = fields.Integer(
        required=True, metadata={"description": "Always 0: such rows are not kept yet."}
    )


class Archived(Schema):
    """An archived workspace; a repeat tells the first archive."""

    workspace_id = fields.UUID(required=True)
    archived = fields.Boolean(required=True, metadata={"description": "False when it was archived before."})
    archived_at = fields.DateTime(required=True)
    counts = fields.Nested(ArchiveCounts, required=True)
    profiles_purged = fields.Integer(required=True, metadata={"description": "Profiles whose data goes."})


class WorkspaceProfilesQuery(ListQuery):
    include_demo = Flag(load_default=True, metadata={"description": "Whether the demo profile is listed too."})
