"""GET, POST and DELETE W/sender-domain, POST W/sender-domain/verify."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from marshmallow import Schema, ValidationError, fields, validate
from sqlalchemy.orm import Session

from api import auth, context, db, errors, plans, sender_domains
from api.audit import Attempt, record
from api.bodies import Nothing
from api.body_fields import Host
from api.dns_records import is_public_suffix
from api.guard import workspace_guarded
from api.http import Blueprint
from api.models import SenderDomain, Workspace
from api.roles import Role
from api.scopes import Scope
from api.v1.branding.schemas import Deleted
from api.writing import actor, idempotent, session

bp = Blueprint("sender_domain", __name__, description="The domain that a workspace's reports are sent under.")

STATUSES = ("none", "pending", "verified", "failed")
LONGEST_LOCAL_PART = 64
# a dot at an end, or beside another, makes no address that mail can carry
LOCAL_PART = r"^[a-z0-9_-]+(\.[a-z0-9_-]+)*\Z"
_LOCAL_PART_WORDS = "must be 1 to 64 of a-z, 0-9, underscore and hyphen, with single dots between them"


class OwnDomain(Host):
    """A domain that somebody can own: registrable, or below one that is."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        domain = super()._deserialize(value, attr, data, **kwargs)
        if is_public_suffix(domain):
            raise ValidationError("is a public suffix; register a domain below it")
        if not (ending := domain.rpartition(".")[2]).isalpha() and not ending.startswith("xn--"):
            raise ValidationError("must be a domain name")
        return domain


class DomainBody(Schema):
    domain = OwnDomain(required=True, metadata={"description": "One that can be registered, or below such a one."})
    local_part = fields.String(
        load_default="reports",
        validate=[
            validate.Length(1, LONGEST_LOCAL_PART, error=_LOCAL_PART_WORDS),
            validate.Regexp(LOCAL_PART, error=_LOCAL_PART_WORDS),
        ],
        metadata={"pattern": LOCAL_PART, "description": "What stands before the @ of the sender."},
    )


class DnsRecord(Schema):
    type = fields.String(required=True, metadata={"enum": ["CNAME", "TXT", "MX"], "description": "Kind of DNS record."})
    host = fields.String(required=True, metadata={"description": "Full name of the record."})
    value = fields.String(required=True, metadata={"description": "What the record must hold."})
    status = fields.String(
        required=True,
        metadata={
            "enum": ["pending", "ok", "wrong", "missing"],
            "description": "By the last look; wrong: it holds something else; pending: nobody has looked.",
        },
    )
    found = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "What DNS held when last looked at; null where nothing, and before."},
    )


class DomainRow(Schema):
    domain = fields.String(
        required=True, allow_none=True, metadata={"description": "The domain; null where none is registered."}
    )
    from_address = fields.String(
        required=True, allow_none=True, metadata={"description": "Sender once verified; null without a domain."}
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "none: not registered; failed: verified once, and bad on three daily looks in a row.",
        },
    )
    records = fields.List(
        fields.Nested(DnsRecord), required=True, metadata={"description": "What the domain's DNS must hold."}
    )
    created_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When it was registered; null where none is."}
    )
    checked_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When its DNS was last looked at; null before."}
    )
    verified_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When it last became verified; null before."}
    )


@bp.route("/workspaces/<workspace_id>/sender-domain")
@workspace_guarded(role=Role.VIEWER)
@bp.response(200, DomainRow)
def sender_domain(workspace_id: str) -> dict[str, Any]:
    """The sending domain and the DNS record it needs

    Told as the last look at its DNS found it; nothing is looked up here. POST
    /workspaces/{workspace_id}/sender-domain/verify looks now, and a verified one is looked at daily. Without a domain
    `status` is none and the rest is null.
    """
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        return shape(of(reading, workspace_id))


@bp.route("/workspaces/<workspace_id>/sender-domain", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(DomainBody)
@idempotent()
@bp.response(201, DomainRow)
def register_sender_domain(body: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Register the domain that reports are sent under

    Makes a key pair for it; publish the record of the answer in the domain's DNS, then verify.
    """
    _hold(workspace_id)
    plans.require(auth.current().workspace, "sender_domain")
    if of(session(), workspace_id) is not None:
        raise errors.INVALID_STATE("Remove the present domain first.", reason="domain_exists")
    row = sender_domains.registered(context.settings(), workspace_id, body["domain"], body["local_part"])
    session().add(row)
    session().flush()
    _record("sender_domain.registered", row)
    return shape(row)


@bp.route("/workspaces/<workspace_id>/sender-domain", methods=["DELETE"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@idempotent()
@bp.response(200, Deleted)
def remove_sender_domain(workspace_id: str) -> dict[str, Any]:
    """Remove the sending domain and its key

    Reports are sent under the deployment's own address from the next one on. The key is gone for good: the same domain,
    registered again, needs another DNS record. Without one `deleted` is false.
    """
    _hold(workspace_id)
    row = of(session(), workspace_id)
    if row is not None:
        session().delete(row)
        _record("sender_domain.removed", row)
    return {"deleted": row is not None}


@bp.route("/workspaces/<workspace_id>/sender-domain/verify", methods=["POST"])
@workspace_guarded(scope=Scope.WORKSPACES_WRITE, role=Role.ADMIN)
@bp.arguments(Nothing)
@idempotent()
@bp.response(200, DomainRow)
def verify_sender_domain(_: dict[str, Any], workspace_id: str) -> dict[str, Any]:
    """Look at the domain's DNS now

    A verified domain is also looked at daily, and fails after three bad days in a row.
    """
    settings = context.settings()
    with db.transaction(settings.operational_url, durable=False) as reading:
        asked = _present(of(reading, workspace_id))
    # outside any transaction: a slow resolver holds up nobody else
    seen = sender_domains.look(settings, asked)
    row = _present(session().get(SenderDomain, asked.id, with_for_update=True))
    before = row.status
    sender_domains.settle(row, seen)
    if row.status != before:
        _record("sender_domain.checked", row, before={"status": before}, after={"status": row.status})
    return shape(row)


def of(unit: Session, workspace_id: str) -> SenderDomain | None:
    """The workspace's sender domain, if it has one."""
    return unit.scalars(sa.select(SenderDomain).where(SenderDomain.workspace_id == workspace_id)).one_or_none()


def shape(row: SenderDomain | None) -> dict[str, Any]:
    """The sender domain as it is answered."""
    if row is None:
        empty = dict.fromkeys(("domain", "from_address", "created_at", "checked_at", "verified_at"))
        return {**empty, "status": "none", "records": []}
    seen = row.found[0] if row.found else {"status": "pending", "found": None}
    return {
        "domain": row.domain,
        "from_address": row.from_address,
        "status": row.status,
        "records": [{**sender_domains.wanted(row), **seen}],
        "created_at": row.created_at,
        "checked_at": row.checked_at,
        "verified_at": row.verified_at,
    }


def _hold(workspace_id: str) -> None:
    # two who register or remove one at once do it one after the other
    session().scalar(sa.select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))


def _present(row: SenderDomain | None) -> SenderDomain:
    if row is None:
        raise errors.INVALID_STATE("The workspace has no sending domain.", reason="domain_missing")
    return row


def _record(action: str, row: SenderDomain, **details: Any) -> None:
    target = {"kind": "sender_domain", "id": row.id, "label": row.domain}
    record(session(), actor(), Attempt(action, {"target": target, **details}))
