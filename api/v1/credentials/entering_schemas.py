"""What the /auth routes accept and answer."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields

from api.bodies import Email, Text
from api.passwords import LONGEST, SHORTEST
from data_contracts.normal_form import nfc


class Password(fields.String):
    """A password as typed, in NFC; unlike other text it keeps its spaces."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = nfc(super()._deserialize(value, attr, data, **kwargs))
        if not text:
            raise ValidationError("is empty")
        if any(sign == "\0" or 0xD800 <= ord(sign) <= 0xDFFF for sign in text):
            raise ValidationError("holds a character that is none")
        return text


def new_password() -> Password:
    """The field of a password that is to be set."""
    return Password(
        required=True,
        metadata={"description": f"{SHORTEST} to {LONGEST} characters, and none that a breach made known."},
    )


class SignUpBody(Schema):
    email = Email(required=True)
    password = new_password()
    first_name = Text(80, load_default=None)
    last_name = Text(80, load_default=None)


class SignInBody(Schema):
    email = Email(required=True)
    password = Password(required=True, metadata={"description": "As it was set; spaces at its ends count."})


class OpenedSession(Schema):
    token = fields.String(required=True, metadata={"description": "`tl_sess_…`; shown this once."})
    expires_at = fields.DateTime(required=True, metadata={"description": "At the latest; idle sessions end earlier."})


class SignedUp(Schema):
    user_id = fields.String(required=True, metadata={"format": "uuid"})
    email_verified = fields.Boolean(
        required=True, metadata={"description": "Always false: the code of the mail confirms the address."}
    )
    session = fields.Nested(OpenedSession, required=True)


class SignedInPerson(Schema):
    user_id = fields.String(required=True, metadata={"format": "uuid"})
    email = fields.String(required=True)
    email_verified = fields.Boolean(
        required=True,
        metadata={"description": "Whether the person has shown by a mailed code that the address is theirs."},
    )


class SignedIn(OpenedSession):
    user = fields.Nested(SignedInPerson, required=True)


class SignedOut(Schema):
    ended = fields.Boolean(required=True, metadata={"description": "Always true."})
    ended_at = fields.DateTime(required=True)


class PasswordBody(Schema):
    current_password = Password(
        load_default=None, metadata={"description": "Needed by everybody who has a password already."}
    )
    new_password = new_password()


class PasswordChanged(Schema):
    changed_at = fields.DateTime(required=True)
    sessions_ended = fields.Integer(required=True, metadata={"description": "Other sessions; this one goes on."})
