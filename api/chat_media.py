"""Media that people sent over the chat app, kept for a week under an address that we sign."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO

import sqlalchemy as sa
from flask import Blueprint, Response, send_file
from itsdangerous import BadSignature, URLSafeSerializer
from werkzeug.exceptions import NotFound

from api import context, db
from api.db import now
from api.guard import public
from api.models import ChatMedia, Connection
from touchledger.settings import Settings

KEPT = timedelta(days=7)
MOST_BYTES = 100 * 2**20

bp = Blueprint("chat_media", __name__)


def known(url: str, *, connection_id: str, media_id: str) -> ChatMedia | None:
    """What is kept of a media id and has not expired."""
    chosen = sa.select(ChatMedia).where(
        ChatMedia.connection_id == connection_id, ChatMedia.media_id == media_id, ChatMedia.expires_at > now()
    )
    with db.transaction(url, durable=False) as session:
        return session.scalars(chosen).one_or_none()


def is_ending(media: ChatMedia) -> bool:
    """Whether whoever asks now may be too late to fetch it."""
    return media.expires_at <= now() + timedelta(days=1)


@contextmanager
def writing(settings: Settings) -> Iterator[tuple[IO[bytes], Path]]:
    """A file to write the bytes to, gone again unless `keep` took it."""
    folder = _folder(settings)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".{secrets.token_hex(8)}"
    try:
        with path.open("xb") as file:
            yield file, path
    finally:
        path.unlink(missing_ok=True)


def keep(
    settings: Settings, *, connection: Connection, media_id: str, mime_type: str, written: Path, size: int
) -> ChatMedia:  # fmt: skip
    """Take a written file over; what was kept of the same media keeps its address and lasts longer."""
    same = sa.select(ChatMedia).where(ChatMedia.connection_id == connection.id, ChatMedia.media_id == media_id)
    with db.transaction(settings.operational_url) as session:
        # two that copied the same at once come here one after the other
        session.get_one(Connection, connection.id, with_for_update={"key_share": True})
        kept = session.scalars(same).one_or_none() or ChatMedia(
            id=db.new_id(), connection_id=connection.id, profile_id=connection.profile_id, media_id=media_id
        )
        kept.mime_type, kept.size_bytes, kept.expires_at = mime_type, size, now() + KEPT
        session.add(kept)
        session.flush()
        written.replace(_folder(settings) / kept.id)
    return kept


def url_of(settings: Settings, media: ChatMedia) -> str:
    """Where everyone who has the address finds the bytes, until they expire."""
    return f"{settings.base_url}/media/{_signer(settings).dumps(media.id)}"


def forget_expired(settings: Settings) -> None:
    """Delete what has expired, and files that nothing names any more."""
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.delete(ChatMedia).where(ChatMedia.expires_at <= now()))
    with db.transaction(settings.operational_url, durable=False) as session:
        named = set(session.scalars(sa.select(ChatMedia.id)))
    before = (now() - timedelta(hours=1)).timestamp()
    for path in _folder(settings).glob("*"):
        if path.name not in named and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


@bp.get("/media/<token>")
@public
def media(token: str) -> Response:
    """Media of the chat app, under an address that was signed for whoever asked for it."""
    settings = context.settings()
    try:
        media_id = str(_signer(settings).loads(token))
    except BadSignature:
        raise NotFound() from None
    with db.transaction(settings.operational_url, durable=False) as session:
        found = session.get(ChatMedia, media_id)
    path = _folder(settings) / media_id
    if found is None or found.expires_at <= now() or not path.is_file():
        raise NotFound()
    # a stranger wrote it: no browser may show it as a page of ours
    response = send_file(path, mimetype=found.mime_type, as_attachment=True, download_name=media_id, conditional=False)
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _folder(settings: Settings) -> Path:
    return settings.home / "media"


def _signer(settings: Settings) -> URLSafeSerializer:
    return URLSafeSerializer(settings.signing_key(), salt="chat-media")
