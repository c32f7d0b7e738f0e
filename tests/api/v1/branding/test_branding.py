"""W/branding and its logo: what is kept, who may change it, and what no upload gets past."""

from __future__ import annotations

import io
import os
import struct
import time
import zlib
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from api import db, logos
from api.models import AuditEntry, Profile, Workspace
from api.reports import pdf
from api.roles import Role
from tests.api.v1.branding.conftest import Ask
from touchledger.settings import Settings

EMPTY = {
    "display_name": None, "logo_url": None, "primary_color": None, "accent_color": None, "sender_name": None,
    "reply_to_email": None, "website_url": None, "report_footer": None, "locale": "en", "updated_at": None,
}  # fmt: skip


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 20), **options: Any) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", size, "#336699").save(target, kind, **options)
    return target.getvalue()


def upload(ask: Ask, content: bytes, name: str = "logo.png", part: str = "logo", **more: Any) -> TestResponse:
    # encoded in memory: the client's own temporary file stays open
    boundary, body = encode_multipart({part: FileStorage(io.BytesIO(content), name)})
    kind = f"multipart/form-data; boundary={boundary}"
    return ask("POST", "/branding/logo", data=body, content_type=kind, **more)


def code(response: TestResponse) -> tuple[int, str]:
    return response.status_code, response.get_json()["error"]["code"]


def logo_path(ask: Ask) -> str:
    return str(ask("GET", "/branding").get_json()["data"]["logo_url"]).removeprefix("http://127.0.0.1:8000")


def test_a_workspace_that_never_set_anything_has_empty_branding(ask: Ask, profile: Profile) -> None:
    answer = ask("GET", "/branding", role=Role.VIEWER)
    assert answer.get_json() == {"data": EMPTY, "meta": {"workspace_id": profile.workspace_id}}
    assert ask("PUT", "/branding", json={}).get_json()["data"] == EMPTY


def test_what_is_absent_stays_and_null_clears(ask: Ask) -> None:
    first = {
        "display_name": "  Ágora  ", "primary_color": "#0a7B3c", "reply_to_email": "Hi@Example.com",
        "website_url": "https://agora.example/x", "report_footer": "<b>&", "locale": "es",
    }  # fmt: skip
    set_ = ask("PUT", "/branding", json=first).get_json()["data"]
    assert set_["display_name"] == "Ágora"
    assert set_["reply_to_email"] == "hi@example.com"
    changed = ask("PUT", "/branding", json={"website_url": None, "locale": None}).get_json()["data"]
    assert changed == {**set_, "website_url": None, "locale": "en", "updated_at": changed["updated_at"]}
    assert ask("GET", "/branding").get_json()["data"] == changed
    again = ask("PUT", "/branding", json={"display_name": "Ágora"}).get_json()["data"]
    assert again["updated_at"] == changed["updated_at"]


@pytest.mark.parametrize(
    "body",
    [
        {"logo_url": "https://x.example/l.png"},
        {"primary_color": "red"},
        {"accent_color": "#12345\n"},
        {"website_url": "http://shop.example"},
        {"website_url": "javascript:alert(1)"},
        {"website_url": "https://user@shop.example"},
        {"website_url": "https://shop.example/'onclick='x"},
        {"website_url": "https://[::1]/"},
        {"website_url": "https://[shop.example/"},
        {"website_url": "https://shop.example:port/"},
        {"reply_to_email": "nobody"},
        {"reply_to_email": "a@b.example\r\nBcc: c@d.example"},
        {"report_footer": "x" * 501},
        {"locale": "de"},
        {"display_name": "a\u0000b"},
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_kept(ask: Ask, body: dict[str, str]) -> None:
    assert code(ask("PUT", "/branding", json={"sender_name": "kept?", **body})) == (422, "validation_error")
    assert ask("GET", "/branding").get_json()["data"] == EMPTY


def test_viewers_read_and_admins_write(ask: Ask) -> None:
    assert code(ask("GET", "/branding", role=Role.GUEST)) == (403, "forbidden")
    for role in (Role.VIEWER, Role.EDITOR):
        assert code(ask("PUT", "/branding", role=role, json={})) == (403, "forbidden")
        assert code(upload(ask, picture(), role=role)) == (403, "forbidden")
        assert code(ask("DELETE", "/branding/logo", role=role)) == (403, "forbidden")


def test_changes_are_on_record_without_addresses_of_people(ask: Ask, settings: Settings) -> None:
    ask("PUT", "/branding", json={"reply_to_email": "ada@example.com", "sender_name": "Ada"})
    upload(ask, picture())
    ask("DELETE", "/branding/logo")
    with db.transaction(settings.operational_url) as session:
        found = list(session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id)))
    assert [row.action for row in found] == ["branding.changed", "branding.logo_uploaded", "branding.logo_deleted"]
    assert found[0].details["after"] == {"reply_to_email": "set", "sender_name": "Ada"}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_logo_is_served_to_everyone_under_an_address_nobody_guesses(ask: Ask, client: FlaskClient, kind: str) -> None:
    answer = upload(ask, picture(kind), "any.name")
    assert answer.status_code == 201
    mime = f"image/{kind.lower()}"
    data = answer.get_json()["data"]
    assert (data["width"], data["height"], data["mime_type"]) == (40, 20, mime)
    served = client.get(logo_path(ask))
    assert (served.status_code, served.mimetype) == (200, mime)
    assert served.headers["X-Content-Type-Options"] == "nosniff"
    assert served.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "sandbox" in served.headers["Content-Security-Policy"]
    assert Image.open(io.BytesIO(served.data)).size == (40, 20)
    assert len(data["logo_url"].rpartition("/")[2].partition(".")[0]) == 32


def test_a_replaced_and_a_removed_logo_are_gone_at_once(ask: Ask, client: FlaskClient, settings: Settings) -> None:
    upload(ask, picture())
    first = logo_path(ask)
    upload(ask, picture("WEBP"))
    second = logo_path(ask)
    assert (client.get(first).status_code, client.get(second).status_code) == (404, 200)
    assert ask("DELETE", "/branding/logo").get_json()["data"] == {"deleted": True}
    assert ask("DELETE", "/branding/logo").get_json()["data"] == {"deleted": False}
    assert client.get(second).status_code == 404
    assert ask("GET", "/branding").get_json()["data"]["logo_url"] is None
    upload(ask, picture())
    for path in (settings.home / "logos").iterdir():
        os.utime(path, (time.time() - 7200,) * 2)
    logos.forget_unnamed(settings)
    assert [path.name for path in (settings.home / "logos").iterdir()] == [logo_path(ask).rpartition("/")[2]]


def test_the_logo_of_an_archived_workspace_is_not_served(
    ask: Ask, client: FlaskClient, settings: Settings, profile: Profile
) -> None:
    upload(ask, picture())
    path = logo_path(ask)
    with db.transaction(settings.operational_url) as session:
        session.get_one(Workspace, profile.workspace_id).archived_at = db.now()
    assert client.get(path).status_code == 404


def test_what_hides_in_an_upload_is_not_served_on(ask: Ask, client: FlaskClient) -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    upload(ask, picture("JPEG", exif=exif, comment=b"canary") + b"<script>alert(1)</script>")
    served = client.get(logo_path(ask)).data
    for hidden in (b"taken at home", b"canary", b"<script>"):
        assert hidden not in served


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def bomb(width: int, height: int) -> bytes:
    """A PNG whose header promises more than it should ever be given memory for."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not an image",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"GIF89a\x01\x00\x01\x00\x00\x00\x00;",
        picture()[:60],
        picture("PNG", (4097, 1)),
        bomb(30000, 30000),
        bomb(9000, 9999),
        bomb(4000, 4000),
    ],
    ids=["empty", "text", "svg", "gif", "cut", "wide", "bomb", "smaller bomb", "short of pixels"],
)
def test_what_is_no_fitting_image_is_refused(ask: Ask, content: bytes) -> None:
    # the library that writes PDF would let Pillow take images that break off
    pdf.is_available()
    assert code(upload(ask, content)) == (400, "invalid_content")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize(
    "entry",
    [(0x0100, 2, 4, b"abc\0"), (0x011A, 2, 4, b"abc\0")],
    ids=["text for a whole number", "text for a fraction"],
)
def test_an_image_whose_exif_is_damaged_is_refused(ask: Ask, kind: str, entry: tuple[int, int, int, bytes]) -> None:
    # turned on its side, or its EXIF would not be read
    entries = [(0x0112, 3, 1, b"\x06\0\0\0"), entry]
    packed = b"".join(struct.pack("<HHI4s", *one) for one in entries)
    exif = b"Exif\0\0II*\0" + struct.pack("<IH", 8, len(entries)) + packed + b"\0" * 4
    assert code(upload(ask, picture(kind, exif=exif))) == (400, "invalid_content")


def test_a_form_of_another_shape_is_refused(ask: Ask) -> None:
    assert code(upload(ask, picture(), part="file")) == (400, "invalid_content")
    two = {"logo": [(io.BytesIO(picture()), "a.png"), (io.BytesIO(picture()), "b.png")]}
    assert code(ask("POST", "/branding/logo", data=two)) == (400, "invalid_content")
    assert code(ask("POST", "/branding/logo", json={"logo": "x"})) == (400, "invalid_request")


def test_a_file_over_five_megabytes_is_too_large(ask: Ask) -> None:
    whole = picture()
    fitting = whole + b"\0" * (5 * 1024 * 1024 - len(whole))
    assert upload(ask, fitting).status_code == 201
    assert code(upload(ask, fitting + b"\0")) == (413, "payload_too_large")
    assert code(upload(ask, fitting + b"\0" * 100_000)) == (413, "payload_too_large")
