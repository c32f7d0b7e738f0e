"""Opaque signed cursors for keyset paging.

A cursor is base64url(JSON + HMAC-SHA256). It holds the sort key of the last row given and the snapshot the list began
on, and is bound to route, profile and filters: used with anything else, altered, or after 24 hours it is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from marshmallow import Schema, ValidationError, fields, post_load

from api import errors

LIFE_SECONDS = 24 * 3600
_MAC_BYTES = 32
_MOST_CHARACTERS = 2000
_FORM = "^[A-Za-z0-9_-]{40,2000}$"


class CursorQuery(Schema):
    """The cursor of a paged list, under either of its names; loads `cursor`, None on the first page."""

    cursor = fields.String(
        load_default=None, metadata={"description": "`next_cursor` of the page before.", "pattern": _FORM}
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
    return base64.urlsafe_b64encode(_mac(key, payload) + payload).decode().rstrip("=")


def read(key: bytes, listing: Listing, cursor: str) -> Place:
    """The place a cursor names; forged, foreign, expired and mixed ones are all refused with invalid_parameter."""
    payload = _verified(key, cursor)
    digest, expires_at, snapshot_id, position = orjson.loads(payload)
    if digest != listing.digest():
        raise errors.INVALID_PARAMETER("cursor: belongs to another list, or to other filters of this one.")
    if time.time() >= expires_at:
        raise expired()
    return Place(tuple(position), snapshot_id)


def expired() -> errors.ApiError:
    """The refusal of a cursor whose 24 hours, or whose snapshot, are gone."""
    return errors.INVALID_PARAMETER("cursor: has expired; start again from the first page.")


def _verified(key: bytes, cursor: str) -> bytes:
    invalid = errors.INVALID_PARAMETER("cursor: is not one of ours.")
    if len(cursor) > _MOST_CHARACTERS:
        raise invalid
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as malformed:
        raise invalid from malformed
    mac, payload = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(key, payload)):
        raise invalid
    return payload


def _mac(key: bytes, payload: bytes) -> bytes:
    return hmac.digest(key, b"cursor\0" + payload, "sha256")
