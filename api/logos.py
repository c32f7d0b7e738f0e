"""Logos: images that people upload, checked by content, written anew, and served to everyone who has the address."""

from __future__ import annotations

import io
import os
import re
import secrets
import struct
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

import sqlalchemy as sa
from flask import Blueprint, Response
from PIL import Image, ImageOps
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound

from api import context, db, errors
from api.guard import public
from api.models import Branding, Workspace
from touchledger.settings import Settings

MIME = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}
NAME = re.compile(r"[0-9a-f]{32}\.(png|jpeg|webp)")
FOREVER = "public, max-age=31536000, immutable"
# longer than an upload's transaction takes, so that no file goes before its row is there
UNNAMED_FOR = timedelta(hours=1)
# the last three are what Pillow raises over damaged EXIF
BROKEN = (
    *(OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError, Image.DecompressionBombWarning),
    *(struct.error, KeyError, TypeError),
)

bp = Blueprint("logos", __name__)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as it is stored."""

    content: bytes
    kind: str
    width: int
    height: int

    @property
    def mime_type(self) -> str:
        return MIME[self.kind]


def read_picture(stream: IO[bytes], *, most_pixels: int) -> Picture:
    """The image in the stream, written anew: without metadata, further frames, or anything behind its end.

    Its kind is what it is, not what it is called. Raises invalid_content for what is no PNG, JPEG or WebP, is broken,
    or has a side of more than `most_pixels`; the header is judged before anything is unpacked.
    """
    try:
        with Image.open(stream, formats=("PNG", "JPEG", "WEBP")) as found:
            kind = (found.format or "").lower()
            if max(found.size) > most_pixels:
                raise errors.INVALID_CONTENT(f"logo: has more than {most_pixels} pixels on a side.")
            turned = ImageOps.exif_transpose(found)
            fits = turned if turned.mode in _modes(kind) else turned.convert("RGB" if kind == "jpeg" else "RGBA")
            target = io.BytesIO()
            # a new image takes no text, profile or comment of the old one along
            clean = Image.new(fits.mode, fits.size)
            clean.paste(fits)
            clean.save(target, format=kind, **({"quality": 92} if kind != "png" else {"optimize": True}))
    except errors.ApiError:
        raise
    except BROKEN:
        raise errors.INVALID_CONTENT("logo: is not a PNG, JPEG or WebP image that can be read.") from None
    return Picture(target.getvalue(), kind, *clean.size)


def keep(settings: Settings, picture: Picture) -> str:
    """Write the file, whole and durable, under a name that nobody can guess; gives the name."""
    folder = settings.home / "logos"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{secrets.token_hex(16)}.{picture.kind}"
    with (folder / name).open("xb") as file:
        file.write(picture.content)
        file.flush()
        os.fsync(file.fileno())
    return name


def url_of(settings: Settings, name: str) -> str:
    """Where everyone finds a logo."""
    return f"{settings.base_url}/logos/{name}"


def content_of(settings: Settings, name: str | None) -> tuple[bytes, str] | None:
    """Bytes and mime type of a stored logo; None when there is none."""
    if name is None or not NAME.fullmatch(name):
        return None
    path = settings.home / "logos" / name
    return (path.read_bytes(), MIME[name.rpartition(".")[2]]) if path.is_file() else None


def forget_unnamed(settings: Settings) -> None:
    """Delete files of logos that were replaced or removed."""
    with db.transaction(settings.operational_url, durable=False) as session:
        named = set(session.scalars(sa.select(Branding.logo_name).where(Branding.logo_name.is_not(None))))
    before = (db.now() - UNNAMED_FOR).timestamp()
    for path in (settings.home / "logos").glob("*"):
        if path.name not in named and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


@bp.get("/logos/<name>")
@public
def logo(name: str) -> Response:
    """A workspace's logo as it stands; a replaced or removed one is gone at once."""
    settings = context.settings()
    if not NAME.fullmatch(name):
        raise NotFound()
    with db.transaction(settings.operational_url, durable=False) as session:
        stands = _stands(session, name)
    found = content_of(settings, name) if stands else None
    if found is None:
        raise NotFound()
    response = Response(found[0], mimetype=found[1])
    response.headers["Cache-Control"] = FOREVER
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _stands(session: Session, name: str) -> bool:
    chosen = sa.select(Branding.workspace_id).join(Workspace, Workspace.id == Branding.workspace_id)
    live = chosen.where(Branding.logo_name == name, Workspace.archived_at.is_(None))
    return session.scalars(live).one_or_none() is not None


def _modes(kind: str) -> tuple[str, ...]:
    return {"jpeg": ("RGB", "L"), "png": ("RGB", "RGBA", "L"), "webp": ("RGB", "RGBA")}[kind]
