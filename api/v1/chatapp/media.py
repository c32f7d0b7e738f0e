"""GET /chatapp/media/{mediaId}."""

from __future__ import annotations

from typing import Any

from api import auth, chat_apps, chat_media, context, errors
from api.auth import Kind
from api.guard import guarded
from api.http import Blueprint
from api.models import ChatMedia, Connection
from api.roles import Role
from api.scopes import Scope
from api.v1.chatapp.schemas import ConnectionQuery, MediaLink
from connectors.errors import Refused, TooMuchData

bp = Blueprint("chatapp_media", __name__, description="Media that people sent over the chat app.")


@bp.route("/chatapp/media/<media_id>")
@guarded(scope=Scope.CHATAPP_READ, role=Role.ADMIN, kinds=frozenset({Kind.API_KEY, Kind.SESSION}))
@bp.arguments(ConnectionQuery, location="query")
@bp.response(200, MediaLink)
def resolve_media(query: dict[str, Any], media_id: str) -> dict[str, Any]:
    """An address of ours where the media's bytes are for seven days

    The platform's own address lives for minutes only, so the bytes are copied when they are first asked for.
    """
    settings = context.settings()
    connection = chat_apps.named(
        settings, profile_id=auth.current().profile.id, connection_id=query["connection_id"]
    )  # fmt: skip
    # the platform's ids are numbers; anything else it never gave out
    if not (media_id.isascii() and media_id.isdigit() and len(media_id) <= 32):
        raise errors.MEDIA_EXPIRED()
    kept = chat_media.known(settings.operational_url, connection_id=connection.id, media_id=media_id)
    if kept is None or chat_media.is_ending(kept):
        try:
            kept = _copied(connection, media_id)
        except errors.ApiError:
            # the platform forgets media a week after they were sent, and ours are of a later day
            if kept is None:
                raise
    told = {"mime_type": kept.mime_type, "size_bytes": kept.size_bytes, "expires_at": kept.expires_at}
    return {"url": chat_media.url_of(settings, kept), **told}


def _copied(connection: Connection, media_id: str) -> ChatMedia:
    settings = context.settings()
    with chat_media.writing(settings) as (file, path):
        with chat_apps.asking(settings, connection, within=chat_apps.UPLOAD_SECONDS) as account:
            found = account.media(media_id)
            if found is None:
                raise errors.MEDIA_EXPIRED()
            if found.size > chat_media.MOST_BYTES:
                raise _too_large()
            try:
                size = account.download(found, file, most_bytes=chat_media.MOST_BYTES)
            except TooMuchData:
                raise _too_large() from None
            except Refused as gone:
                if gone.reason != "not_found":
                    raise
                raise errors.MEDIA_EXPIRED() from None
        file.flush()
        return chat_media.keep(
            settings, connection=connection, media_id=media_id, mime_type=found.mime_type, written=path, size=size
        )


def _too_large() -> errors.ApiError:
    return errors.PAYLOAD_TOO_LARGE(f"The media holds more than {chat_media.MOST_BYTES} bytes.")
