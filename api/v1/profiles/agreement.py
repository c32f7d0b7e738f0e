"""GET and POST W/profiles/{profile_id}/agreement: what is signed before a profile in hipaa mode sends anything."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from marshmallow import fields
from sqlalchemy.orm import Session

from api import actors, agreements, auth, context, db, errors
from api.audit import Attempt, record
from api.auth import Kind
from api.bodies import Text
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import AgreementSignature, Profile
from api.roles import Role
from api.scopes import Scope
from api.writing import actor, idempotent, session

bp = Blueprint("agreements", __name__, description="The agreement on protected health information.")


class AgreementTexts(ma.Schema):
    """The text in both languages; each is the whole agreement."""

    en = fields.String(required=True, metadata={"description": "The English text."})
    es = fields.String(required=True, metadata={"description": "The Spanish text."})


class AgreementAnswer(ma.Schema):
    """The current text, and whether somebody signed it for the profile."""

    version = fields.String(
        required=True, metadata={"description": "Version of the current text; a signature quotes it."}
    )
    texts = fields.Nested(AgreementTexts, required=True)
    text_hash = fields.String(required=True, metadata={"description": "What a signature quotes."})
    status = fields.String(
        required=True,
        metadata={
            "enum": ["none", "signed"],
            "description": "signed: somebody signed the current text for the profile.",
        },
    )
    signed_by = fields.Nested(
        actors.ActorShape,
        required=True,
        allow_none=True,
        metadata={"description": "Who sent the signature; null while it is not signed."},
    )
    signed_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When it was signed; null while it is not."}
    )
    signatory_name = fields.String(
        required=True, allow_none=True, metadata={"description": "Who signs for the business; null while nobody did."}
    )
    signatory_title = fields.String(
        required=True, allow_none=True, metadata={"description": "Their position there; null while nobody signed."}
    )


class SignatureBody(ma.Schema):
    """Who signs, and the text that was read."""

    version = Text(16, required=True, metadata={"description": "`version` of the text that was read."})
    text_hash = Text(64, required=True, metadata={"description": "`text_hash` of the text that was read."})
    signatory_name = Text(120, required=True, metadata={"description": "Who signs for the business."})
    signatory_title = Text(120, required=True, metadata={"description": "Their position there."})


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/agreement")
@workspace_guarded(role=Role.ADMIN, uuids=["profile_id"])
@bp.response(200, AgreementAnswer)
def profile_agreement(workspace_id: str, profile_id: str) -> dict[str, Any]:  # noqa: ARG001
    """The agreement of a profile

    `version` and `text_hash` are what a signature quotes. Only a profile in hipaa mode needs one: until it is signed
    nothing is exported from there. Once the text changes, `status` is none again until the new one is signed.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return _told(reading, agreements.signature(reading, profile_id))


@bp.route("/workspaces/<workspace_id>/profiles/<profile_id>/agreement", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, kinds=[Kind.SESSION], uuids=["profile_id"])
@bp.arguments(SignatureBody)
@idempotent()
@bp.alt_response(200, schema=AgreementAnswer, description="It was signed before; the first signature stands.")
@bp.response(201, AgreementAnswer)
def sign_agreement(body: dict[str, Any], workspace_id: str, profile_id: str) -> Any:  # noqa: ARG001
    """Sign the agreement for a profile

    `version` and `text_hash` must be those of the current text.
    """
    for name, current in (("version", agreements.VERSION), ("text_hash", agreements.text_hash())):
        if body[name] != current:
            raise errors.VALIDATION_ERROR(f"{name}: is not that of the current text")
    # two who sign at once do it one after the other
    profile = session().get_one(Profile, profile_id, with_for_update={"key_share": True})
    standing = agreements.signature(session(), profile_id)
    if standing is not None:
        return _told(session(), standing), 200
    person = auth.current().person
    made = AgreementSignature(profile_id=profile_id, signed_by_kind=Kind.SESSION.value, signed_by_id=person, **body)
    session().add(made)
    session().flush()
    target = {"kind": "profile", "id": profile.id, "label": profile.name}
    details = {"target": target, "after": {"version": made.version, "text_hash": made.text_hash}}
    record(session(), actor(), Attempt("agreement.signed", details, category="privacy"))
    return _told(session(), made)


def _told(reading: Session, signed: AgreementSignature | None) -> dict[str, Any]:
    by = (signed.signed_by_kind, signed.signed_by_id) if signed else None
    return {
        "version": agreements.VERSION,
        "texts": agreements.TEXTS,
        "text_hash": agreements.text_hash(),
        "status": "signed" if signed else "none",
        "signed_by": actors.told(reading, [by])[by] if by else None,
        "signed_at": signed.signed_at if signed else None,
        "signatory_name": signed.signatory_name if signed else None,
        "signatory_title": signed.signatory_title if signed else None,
    }
