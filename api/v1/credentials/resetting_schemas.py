"""What the routes behind a mailed code accept and answer."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.bodies import Email, Text
from api.v1.credentials.entering_schemas import new_password


class TokenOfMailBody(Schema):
    token = Text(200, required=True, metadata={"description": "`tl_rst_…` of the mail."})


class Verified(Schema):
    email_verified = fields.Boolean(required=True, metadata={"description": "Always true."})


class AddressBody(Schema):
    email = Email(required=True)


class ResetAsked(Schema):
    """An empty object: what happens is not told."""


class NewPasswordBody(TokenOfMailBody):
    new_password = new_password()


class PasswordSet(Schema):
    changed_at = fields.DateTime(required=True)
