"""Opaque sealed cursors for keyset paging.

A cursor is base64url(AES-SIV(JSON)). It holds the sort key of the last row given and the snapshot the list began on,
and is bound to route, profile and filters: used with anything else, altered, or after 24 hours it is refused. Nothing
in it can be read, since a sort key may be the id of a person whom the answer masks.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from marshmallow import Schema, ValidationError, fields, post_load

from api import errors

LIFE_SECONDS = 24 * 3600
_KEY_BYTES = 64
_MOST_CHARACTERS = 2000
_FORM = "^[A-Za-z0-9_-]{40,2000}$"


class CursorQuery(Schema):
    """The cursor of a paged list, under either of its names; loads `cursor`, None on the first page."""

    cursor = fields.String(
        load_default=None,
        metadata={
            "description": "`pagination.cursor` of the page before, `meta.next_cursor` where that has no `pagination`."
            f" It is good for {LIFE_SECONDS // 3600} hours, with the same filters, and no longer than the snapshot of"
            " its figures is kept.",
            "pattern": _FORM,
        },
    )
    synonym = fields.String(
        load_default=None,
        data_key="pagination.cursor",
        metadata={"description": "The same as `cursor`.", "pattern": _FORM},
    )

    @post_load
    def _one_name(self, data: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        rest = dict(data)
        synonym = rest.pop("synonym")
        if synonym is not None and rest["cursor"] is not None:
            raise ValidationError("is cursor under another name; send one of them", "pagination.cursor")
        return {**rest, "cursor": synonym if synonym is not None else rest["cursor"]}


@dataclass(frozen=True)
class Place:
    """Where a list goes on: after the row with this sort key, in this snapshot (None for operational lists)."""

    position: tuple[Any, ...]
    snapshot_id: str | None


@dataclass(frozen=True)
class Listing:
    """What a cursor is bound to: the same list asked for again."""

    route: str
    profile_id: str
    filters: Mapping[str, Any]

    def digest(self) -> str:
        """Hash of all three, the same for filters in any order."""
        parts = [self.route, self.profile_id, dict(self.filters)]
        return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def issue(key: bytes, listing: Listing, position: Sequence[Any], snapshot_id: str | None) -> str:
    """The cursor that continues after `position`; `key` is the deployment's signing key."""
    payload = orjson.dumps([listing.digest(), int(time.time()) + LIFE_SECONDS, snapshot_id, list(position)])
    return base64.urlsafe_b64encode(_cipher(key).encrypt(payload, None)).decode().rstrip("=")


def read(key: bytes, listing: Listing, cursor: str) -> Place:
    """The place a cursor names; forged, foreign, expired and mixed ones are all refused with invalid_parameter."""
    digest, expires_at, snapshot_id, position = orjson.loads(_opened(key, cursor))
    if digest != listing.digest():
        raise errors.INVALID_PARAMETER("cursor: belongs to another list, or to other filters of this one.")
    if time.time() >= expires_at:
        raise expired()
    return Place(tuple(position), snapshot_id)


def period(asked: Mapping[str, Any]) -> int | None:
    """What the tag of a page changes with twice in the life of a cursor; None for a query without one.

    A cache keeps a page, and the cursor in it, for as long as its tag is known; without this a page of a snapshot that
    stays the newest for a day would lead nowhere from then on, and to ask for it anew would bring the same one.
    """
    return int(time.time()) // (LIFE_SECONDS // 2) if "cursor" in asked else None


def expired() -> errors.ApiError:
    """The refusal of a cursor whose 24 hours, or whose snapshot, are gone."""
    return errors.INVALID_PARAMETER("cursor: has expired; start again from the first page.")


def _opened(key: bytes, cursor: str) -> bytes:
    invalid = errors.INVALID_PARAMETER("cursor: is not one of ours.")
    if len(cursor) > _MOST_CHARACTERS:
        raise invalid
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return _cipher(key).decrypt(raw, None)
    except (binascii.Error, ValueError, InvalidTag) as refused:
        raise invalid from refused


@lru_cache(maxsize=8)
def _cipher(key: bytes) -> AESSIV:
    return AESSIV(HKDF(hashes.SHA256(), _KEY_BYTES, salt=None, info=b"touchledger cursors").derive(key))
