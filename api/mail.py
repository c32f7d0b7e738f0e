"""Mail: a message is queued in the transaction of its cause, and sent by the worker (`api/mail_delivery.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlalchemy.orm import Session

from api import context, errors
from api.models import OutgoingMail, Workspace
from api.quoting import within_a_line
from touchledger.settings import Settings

Queued = Literal["queued", "not_configured"]

LONGEST_SUBJECT = 200


def is_configured(settings: Settings) -> bool:
    """Whether this deployment can send mail at all."""
    return settings.smtp_host is not None


def queue(
    session: Session,
    *,
    workspace_id: str | None,
    to: str,
    kind: str,
    subject: str,
    text: str,
    html: str | None = None,
    attachments: Sequence[dict[str, str]] = (),
    report_id: str | None = None,
    token_digest: str | None = None,
    settings: Settings | None = None,
) -> Queued:
    """Queue one message to one address; it leaves once the session is committed.

    `kind` tells messages apart for the operator (`invitation`, `password_reset`); it is never shown. What carries a
    token (`token_digest`) is not sent once that opens nothing any more. Without a mail server nothing is kept. Raises
    app_provisioned_workspace for a workspace that an app provisioned: its people get no mail, so callers that must
    stay silent ask first.
    """
    chosen = settings or context.settings()
    workspace = session.get(Workspace, workspace_id) if workspace_id else None
    if workspace is not None and workspace.is_provisioned:
        raise errors.APP_PROVISIONED_WORKSPACE()
    if not is_configured(chosen):
        return "not_configured"
    session.add(
        OutgoingMail(
            workspace_id=workspace_id,
            kind=kind,
            to_address=to,
            subject=on_one_line(subject),
            text=text,
            html=html,
            attachments=list(attachments),
            report_id=report_id,
            token_digest=token_digest,
        )
    )
    return "queued"


def on_one_line(text: str) -> str:
    """Text for a header: names are other people's data, and a line break in one would begin a header of their own."""
    # the start of an encoded word, which would be decoded with the line breaks in it
    return within_a_line(text).replace("=?", "= ?")[:LONGEST_SUBJECT]
