"""POST /profiles: what each of its two callers sends and gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import marshmallow as ma
from marshmallow import ValidationError, fields, validate, validates_schema

from api import auth
from api.auth import Kind
from api.bodies import Email, Text
from api.body_fields import Currency, TimeZone, Uuid
from api.models.profile import LONGEST_NAME
from api.scopes import CONNECT_SCOPES
from api.v1.profiles.shape import PRIVACY_MODES, ProfileShape


class Website(Text):
    """An https address without user and password: it is told to all who open the profile, and kept in the trail."""

    def __init__(self, **kwargs: Any) -> None:
        about = "An https address, without user and password."
        super().__init__(500, metadata={"format": "uri", "description": about}, **kwargs)
        self.validators.append(_refuse_other)


_HTTPS = validate.URL(schemes={"https"}, error="must be an https address")


def _refuse_other(address: str) -> None:
    _HTTPS(address)
    if "@" in urlsplit(address).netloc:
        raise ValidationError("must be an https address without user and password")


class Owner(ma.Schema):
    """The person a profile is made for."""

    email = Email(required=True)
    first_name = Text(
        80,
        load_default=None,
        metadata={"description": "First name; not taken over by an account whose address is confirmed."},
    )
    last_name = Text(80, load_default=None, metadata={"description": "Last name, likewise."})


class PersonBody(ma.Schema):
    """A further profile of a person's workspace; time zone and currency are the workspace's unless given."""

    workspace_id = Uuid(load_default=None)
    name = Text(LONGEST_NAME, required=True)
    timezone = TimeZone(load_default=None)
    currency = Currency(load_default=None)
    website = Website(load_default=None, allow_none=True)


class AppBody(ma.Schema):
    """A profile provisioned by an app, with all that its people need."""

    external_ref = Text(128, required=True, metadata={"description": "The app's own name for it, unique per app."})
    name = Text(
        LONGEST_NAME,
        required=True,
        metadata={"description": "What people call the business. A person's: not that of another live profile there."},
    )
    timezone = TimeZone(load_default="UTC")
    currency = Currency(load_default="USD")
    website = Website(load_default=None, allow_none=True)
    user = fields.Nested(
        Owner,
        load_default=None,
        metadata={"description": "Apps: a person to own the workspace; required unless workspace_id is sent."},
    )
    workspace_id = Uuid(
        load_default=None,
        metadata={"description": "Left out: a person's only one; for an app a new one. An app names one that it made."},
    )
    connect_scopes = fields.List(
        fields.String(validate=validate.OneOf(CONNECT_SCOPES, error=f"must be one of {', '.join(CONNECT_SCOPES)}")),
        load_default=None,
        validate=validate.Length(1, error="must name at least one"),
        metadata={
            "description": "Apps: what the key may do, of what the app is registered for; all of that if left out."
        },
    )
    privacy_mode = fields.String(
        load_default="standard",
        validate=validate.OneOf(PRIVACY_MODES, error=f"must be one of {', '.join(PRIVACY_MODES)}"),
    )

    @validates_schema
    def _somebodys(self, data: Mapping[str, Any], **_: Any) -> None:
        if data["workspace_id"] is None and data["user"] is None:
            raise ValidationError("is needed unless workspace_id names a workspace", "user")


class CreationBody(AppBody):
    """Of an app: all members but no other. Of a person: workspace_id, name, timezone, currency, website."""

    external_ref = Text(128, metadata={"description": "The app's own name for it, unique per app. Apps: required."})

    def load(self, data: Any, **options: Any) -> Any:
        """As the schema of whoever is asking says."""
        schema = AppBody() if auth.current().kind is Kind.APP else PersonBody()
        return schema.load(data, **options)


class PartnerKey(ma.Schema):
    """A partner key, shown once."""

    id = fields.UUID(required=True, metadata={"description": "The key, by an id that opens nothing."})
    key = fields.String(required=True, metadata={"description": "Shown this once."})
    prefix = fields.String(required=True, metadata={"description": "How the key begins."})
    scopes = fields.List(fields.String(), required=True)


class Provisioned(ma.Schema):
    """What an app gets."""

    profile = fields.Nested(ProfileShape, required=True)
    workspace_id = fields.UUID(required=True)
    user_id = fields.UUID(
        required=True,
        allow_none=True,
        metadata={"description": "The workspace's owner; null where a workspace was named and no user."},
    )
    created = fields.Boolean(
        required=True, metadata={"description": "false: the app's external_ref named this profile already."}
    )
    api_key = fields.Nested(
        PartnerKey,
        required=True,
        allow_none=True,
        metadata={
            "description": "A key of the app for a new profile; null where it was there already, and in a replay."
        },
    )
    tracking_key = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The public key that its website's tracker sends; null where all were revoked."},
    )
