"""GET and PUT W/branding, POST and DELETE W/branding/logo."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from flask import request
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage

from api import auth, context, db, errors, logos
from api.audit import Attempt, record
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import Branding, Workspace
from api.roles import Role
from api.scopes import Scope
from api.v1.branding.schemas import (
    MOST_LOGO_BYTES,
    MOST_LOGO_PIXELS,
    BrandingBody,
    BrandingRow,
    Deleted,
    Logo,
)
from api.writing import actor, idempotent, session

bp = Blueprint("branding", __name__, description="How a workspace looks in reports and mail, and its sending domain.")

TOLD = (
    "display_name",
    "primary_color",
    "accent_color",
    "sender_name",
    "reply_to_email",
    "website_url",
    "report_footer",
)
UPLOAD = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["logo"],
                "additionalProperties": False,
                "properties": {
                    "logo": {"type": "string", "format": "binary", "description": "PNG, JPEG or WebP, by content."}
                },
            }
        }
    },
}
# what stands around the file in a multipart body
FRAME = 16 * 1024


@bp.route("/workspaces/<workspace_id>/branding")
@workspace_guarded(role=Role.VIEWER)
@bp.response(200, BrandingRow)
def branding(workspace_id: str) -> dict[str, Any]:
    """How the workspace looks in reports and mail

    Before anybody set it every member is null, `locale` is `en`, and the workspace's name and the service's colours
    stand in.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return shape(reading.get(Branding, workspace_id))


@bp.route("/workspaces/<workspace_id>/branding", methods=["PUT"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(BrandingBody)
@idempotent()
@bp.response(200, BrandingRow)
def set_branding(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Change how the workspace looks

    What is absent stays as it is, null clears. The logo has routes of its own.
    """
    row = _locked(session(), workspace_id)
    after = {name: value or "en" if name == "locale" else value for name, value in body.items()}
    before = {name: getattr(row, name) for name in body}
    if after != before:
        for name, value in after.items():
            setattr(row, name, value)
        _touched(row)
        _record("branding.changed", before=_unnamed(before), after=_unnamed(after))
    return shape(row if row.updated_at else None)


@bp.route("/workspaces/<workspace_id>/branding/logo", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN, max_body=MOST_LOGO_BYTES + FRAME)
@bp.doc(requestBody=UPLOAD)
@idempotent()
@bp.response(201, Logo)
def upload_logo(workspace_id: str) -> dict[str, Any]:
    """Upload the logo

    It is served to everyone who has its address, which nobody can guess and which changes with every upload.
    """
    picture = logos.read_picture(_file().stream, most_pixels=MOST_LOGO_PIXELS)
    row = _locked(session(), workspace_id)
    row.logo_name = logos.keep(context.settings(), picture)
    _touched(row)
    _record("branding.logo_uploaded", after={"mime_type": picture.mime_type, "bytes": len(picture.content)})
    url = logos.url_of(context.settings(), row.logo_name)
    return {"logo_url": url, "width": picture.width, "height": picture.height, "mime_type": picture.mime_type}


@bp.route("/workspaces/<workspace_id>/branding/logo", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@idempotent()
@bp.response(200, Deleted)
def delete_logo(workspace_id: str) -> dict[str, Any]:
    """Remove the logo; its address answers 404 at once

    Reports made from now on have none; those that are made keep it, since it is inside their file. Without one
    `deleted` is false.
    """
    row = _locked(session(), workspace_id)
    had_one = row.logo_name is not None
    if had_one:
        row.logo_name = None
        _touched(row)
        _record("branding.logo_deleted")
    return {"deleted": had_one}


def shape(row: Branding | None) -> dict[str, Any]:
    """The branding as it is answered, also where none was ever set."""
    logo_name = row.logo_name if row else None
    return {
        **{name: getattr(row, name, None) for name in TOLD},
        "logo_url": logos.url_of(context.settings(), logo_name) if logo_name else None,
        "locale": row.locale if row else "en",
        "updated_at": row.updated_at if row else None,
    }


def _locked(unit: Session, workspace_id: str) -> Branding:
    # two who change it at once do it one after the other, also the first time
    unit.scalar(sa.select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))
    return unit.get(Branding, workspace_id) or Branding(workspace_id=workspace_id, locale="en")


def _touched(row: Branding) -> None:
    row.updated_at = db.now()
    session().add(row)


def _file() -> FileStorage:
    if request.mimetype != "multipart/form-data":
        raise errors.INVALID_REQUEST("The body must be multipart/form-data.", reason="wrong_content_type")
    if unknown := sorted((request.form.keys() | request.files.keys()) - {"logo"}):
        raise errors.INVALID_CONTENT(f"{unknown[0][:80]}: is not a part of this form.")
    files = request.files.getlist("logo")
    if len(files) != 1:
        raise errors.INVALID_CONTENT("logo: one part of this name must hold the file.")
    size = files[0].stream.seek(0, 2)
    files[0].stream.seek(0)
    if size == 0:
        raise errors.INVALID_CONTENT("logo: is empty.")
    if size > MOST_LOGO_BYTES:
        raise errors.PAYLOAD_TOO_LARGE(f"A logo may hold at most {MOST_LOGO_BYTES} bytes.")
    return files[0]


def _unnamed(values: dict[str, Any]) -> dict[str, Any]:
    # the trail holds no addresses of people
    return {name: "set" if name == "reply_to_email" and value else value for name, value in values.items()}


def _record(action: str, **details: Any) -> None:
    target = {"kind": "workspace", "id": auth.current().workspace.id, "label": "branding"}
    record(session(), actor(), Attempt(action, {"target": target, **details}))
