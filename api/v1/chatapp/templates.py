"""POST /chatapp/templates, POST /chatapp/templates/sync, GET /chatapp/templates and /chatapp/templates/{name}."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from api import audit, auth, chat_apps, context, db, errors
from api.auth import Kind
from api.guard import MEBIBYTE, guarded
from api.http import Blueprint
from api.models import Connection
from api.roles import Role
from api.scopes import Scope
from api.v1.chatapp import cache, components, samples
from api.v1.chatapp.schemas import (
    ConnectionQuery,
    Created,
    SyncBody,
    SyncedTemplate,
    Template,
    TemplateBody,
    TemplateQuery,
)
from api.webhooks.egress import Egress
from api.writing import actor, idempotent, session
from connectors.chatapp import ChatApp
from connectors.errors import Refused

bp = Blueprint("chatapp_templates", __name__, description="Message templates of the chat app.")

SENDERS = frozenset({Kind.API_KEY, Kind.SESSION})
# a sample is fetched first, and what was handed in is kept after
LONGEST = timedelta(seconds=chat_apps.UPLOAD_SECONDS + 60)
FORM = {
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": [samples.PAYLOAD, samples.PART],
                "additionalProperties": False,
                "properties": {
                    samples.PAYLOAD: {"type": "string", "description": "The template as JSON, without header_media."},
                    samples.PART: {"type": "string", "format": "binary", "description": "The sample of the header."},
                },
            }
        }
    },
}


@bp.route("/chatapp/templates", methods=["POST"])
@guarded(scope=Scope.CHATAPP, role=Role.ADMIN, kinds=SENDERS, max_body=samples.MOST_BYTES + MEBIBYTE)
@bp.doc(requestBody=FORM)
@bp.arguments(TemplateBody)
@idempotent(longest=LONGEST)
@bp.response(201, Created)
def create_template(body: dict[str, Any]) -> dict[str, Any]:
    """Hand a template in for review

    `{{name}}` placeholders take their example from `examples`, else from their own name. A sample of the header is
    sent as a part of a form.
    """
    given = samples.of_form()
    if given is not None and {"header_text", samples.PART} & body.keys():
        raise errors.VALIDATION_ERROR("header_media: the sample is a part of this request already.")
    connection = _connection(body["connection_id"], needs_any=True)
    # what is wrong with its texts is told before anybody fetches or asks
    components.definition(body)
    with _sample(body, given) as sample:
        within = chat_apps.UPLOAD_SECONDS if sample else chat_apps.WITHIN_SECONDS
        with chat_apps.asking(context.settings(), connection, within=within) as account, _told():
            wanted, made = _handed_in(account, body, sample)
    cache.keep_created(session(), connection, wanted, made)
    target = audit.target("chat_template", made["id"], f"{wanted['name']} ({wanted['language']})")
    audit.record(session(), actor(), audit.Attempt("chat_template.created", {"target": target}))
    return {"id": made["id"], "name": wanted["name"], "language": wanted["language"], "status": made["status"]}


@bp.route("/chatapp/templates/sync", methods=["POST"])
@guarded(scope=Scope.CHATAPP, role=Role.ADMIN, kinds=SENDERS)
@bp.arguments(SyncBody)
@idempotent()
@bp.response(200, SyncedTemplate(many=True))
def sync_templates(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Read every template from the platform; those that are gone there become DELETED

    Answers when all are read, with the templates as they now are and in `meta.summary` how many changed;
    `template.updated` tells each status that is another. Safe to repeat. 409 `chatapp_connection_required`,
    `connection_not_ready` or `connection_revoked` where the account cannot be asked, 502 `provider_error` where the
    platform fails: then nothing is changed.
    """
    connection = _connection(body["connection_id"])
    with chat_apps.asking(context.settings(), connection) as account:
        found = account.templates()
    summary = cache.renew(session(), connection, found)
    context.meta(summary=summary)
    return cache.listed(session(), connection.id)


@bp.route("/chatapp/templates")
@guarded(scope=Scope.CHATAPP_READ, role=Role.VIEWER, kinds=SENDERS)
@bp.arguments(ConnectionQuery, location="query")
@bp.response(200, Template(many=True))
def cached_templates(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The templates as they were last synced, by name and language

    No platform is asked: POST /chatapp/templates/sync reads them anew. All come at once, without pages; those that are
    gone at the platform are among them as DELETED. A connection that is not the profile's, or no chat account, is 404.
    """
    with _reading(query["connection_id"]) as reading:
        return cache.listed(reading, query["connection_id"])


@bp.route("/chatapp/templates/<name>")
@guarded(scope=Scope.CHATAPP_READ, role=Role.VIEWER, kinds=SENDERS)
@bp.arguments(TemplateQuery, location="query")
@bp.response(200, Template(many=True))
def cached_template(query: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """One template as it was last synced, in every language or in the one asked for

    As the last sync read it, with its parts. A name that no language has, or not the one asked for, is 404
    `template_not_found`: one that was just made elsewhere appears with the next sync.
    """
    with _reading(query["connection_id"]) as reading:
        found = cache.listed(reading, query["connection_id"], name=name, language=query["language"])
    if not found:
        raise errors.TEMPLATE_NOT_FOUND()
    return found


@contextmanager
def _sample(body: dict[str, Any], given: samples.Sample | None) -> Iterator[samples.Sample | None]:
    if samples.PART not in body:
        yield given
        return
    with samples.fetched(body[samples.PART], egress=Egress()) as sample:
        yield sample


def _handed_in(
    account: ChatApp, body: dict[str, Any], sample: samples.Sample | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    header = (sample.format, account.upload_sample(sample.stream.read(), sample.mime_type)) if sample else None
    wanted = components.definition(body, header=header)
    return wanted, account.create_template(wanted)


def _connection(connection_id: str, *, needs_any: bool = False) -> Connection:
    profile_id = auth.current().profile.id
    return chat_apps.named(
        context.settings(), profile_id=profile_id, connection_id=connection_id, needs_any=needs_any
    )  # fmt: skip


@contextmanager
def _reading(connection_id: str) -> Iterator[Any]:
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        chat_apps.require_known(reading, profile_id=auth.current().profile.id, connection_id=connection_id)
        yield reading


@contextmanager
def _told() -> Iterator[None]:
    """What the author of a template can do something about, as the codes that say so."""
    try:
        yield
    except Refused as refused:
        if refused.reason == "template_exists":
            message = "There is a template of this name in this language already."
            raise errors.INVALID_STATE(message, reason="duplicate_name") from None
        if refused.reason == "payment_required":
            raise errors.CHATAPP_PAYMENT_REQUIRED() from None
        if refused.reason == "bad_parameter":
            raise errors.VALIDATION_ERROR("The platform does not accept the content of this template.") from None
        raise
