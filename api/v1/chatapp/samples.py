"""The sample of a template's header: a part of the request, or a file at an address, checked by type and size."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from flask import request

from api import errors
from api.guard import MEBIBYTE
from api.v1.chatapp.schemas import TemplateBody
from api.webhooks.egress import Egress, FetchError, NotPublicError, TooLargeError

PART, PAYLOAD = "header_media", TemplateBody.payload_part
# by MIME type: what the platform calls it, and the most bytes
FORMATS = {
    "image/jpeg": ("IMAGE", 5 * MEBIBYTE),
    "image/png": ("IMAGE", 5 * MEBIBYTE),
    "video/mp4": ("VIDEO", 16 * MEBIBYTE),
    "video/3gpp": ("VIDEO", 16 * MEBIBYTE),
    "application/pdf": ("DOCUMENT", 100 * MEBIBYTE),
}
MOST_BYTES = max(most for _, most in FORMATS.values())
# how files of these types begin; video containers tell it a little later
BEGINNINGS = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG\r\n\x1a\n", "application/pdf": b"%PDF-"}


@dataclass(frozen=True)
class Sample:
    """A file for the platform to look at."""

    stream: IO[bytes]
    mime_type: str

    @property
    def format(self) -> str:
        """IMAGE, VIDEO or DOCUMENT."""
        return FORMATS[self.mime_type][0]


def of_form() -> Sample | None:
    """The file of a multipart request, None for a JSON one.

    400 invalid_content for a part that is absent, empty or not of a type of `FORMATS`, 413 payload_too_large above its
    type's cap.
    """
    if request.mimetype != "multipart/form-data":
        return None
    if unknown := sorted((request.form.keys() | request.files.keys()) - {PART, PAYLOAD}):
        raise errors.INVALID_CONTENT(f"{unknown[0][:80]}: is not a part of this form.")
    files = request.files.getlist(PART)
    if len(files) != 1:
        raise errors.INVALID_CONTENT(f"{PART}: there must be one part of this name.")
    sample = Sample(files[0].stream, files[0].mimetype)
    check(sample)
    return sample


@contextmanager
def fetched(wanted: Mapping[str, Any], *, egress: Egress) -> Iterator[Sample]:
    """The file at the address that a template names, {type, url}, on disk for as long as the block lasts.

    422 validation_error for an address that is not public, gives no file, or one of another type; 400 and 413 as in
    `of_form`.
    """
    field = f"{PART}.url"
    with tempfile.TemporaryFile() as file:
        try:
            mime_type = egress.fetch(wanted["url"], file, most_bytes=MOST_BYTES)
        except TooLargeError as problem:
            raise errors.PAYLOAD_TOO_LARGE(f"The file at {field} {problem}.") from None
        except (NotPublicError, FetchError) as problem:
            raise errors.VALIDATION_ERROR(f"{field}: {problem}.") from None
        if FORMATS.get(mime_type, ("",))[0] != wanted["type"].upper():
            raise errors.VALIDATION_ERROR(f"{field}: is no {wanted['type']} but {mime_type[:60] or 'of no type'}.")
        sample = Sample(file, mime_type)
        check(sample)
        yield sample


def check(sample: Sample) -> None:
    """Refuse a file that is empty, too large, or not what its type says."""
    if sample.mime_type not in FORMATS:
        raise errors.INVALID_CONTENT(f"{PART}: must be one of {', '.join(FORMATS)}.")
    size = sample.stream.seek(0, 2)
    sample.stream.seek(0)
    if size == 0:
        raise errors.INVALID_CONTENT(f"{PART}: is empty.")
    refuse_size(sample.mime_type, size)
    beginning = sample.stream.read(8)
    sample.stream.seek(0)
    if not beginning.startswith(BEGINNINGS.get(sample.mime_type, b"")):
        raise errors.INVALID_CONTENT(f"{PART}: is not {sample.mime_type}, whatever its type says.")


def refuse_size(mime_type: str, size: int) -> None:
    """413 payload_too_large above the type's cap."""
    _, most = FORMATS[mime_type]
    if size > most:
        raise errors.PAYLOAD_TOO_LARGE(f"A sample of {mime_type} may hold at most {most} bytes.")
