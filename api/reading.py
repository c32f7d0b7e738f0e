"""One read of the published figures: which snapshot, whose profile, the answer's ETag and its `meta`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import orjson

from api import auth, context, pagination, responses
from api.code_digest import code_digest
from api.served import ProfileFacts, Reader, profile_facts
from api.snapshot import SnapshotReader, snapshots


@dataclass(frozen=True)
class Source:
    """Where a read finds its figures: an open snapshot and the profile in it."""

    reader: Reader
    profile: ProfileFacts


@contextmanager
def published(
    route: str, asked: Mapping[str, Any], *, resume: pagination.Place | None = None
) -> Iterator[Source | None]:
    """Hold one snapshot for the length of a response; None when nothing is published for the profile yet.

    `asked` is the parsed query, defaults filled in: with the snapshot and the profile's settings it names the answer
    (ETag), so a known answer ends here as 304 before any figure is read. A cursor that resumes in a snapshot no longer
    kept is refused with invalid_parameter.
    """
    with snapshots(context.settings()).reader(resume.snapshot_id if resume else None) as reader:
        if resume and reader is None:
            raise pagination.expired()
        facts = profile_facts(reader, _profile_id()) if reader else None
        _describe(reader, facts)
        responses.conditional(_tag(reader, facts, route, asked))
        yield Source(reader, facts) if reader and facts else None


def _profile_id() -> str:
    return auth.current().profile.id


def _describe(reader: SnapshotReader | None, facts: ProfileFacts | None) -> None:
    context.meta(
        currency=facts.currency if facts else auth.current().profile.reporting_currency,
        snapshot_id=reader.snapshot_id if reader else None,
        data_as_of=timestamp(facts.data_as_of) if facts and facts.data_as_of else None,
    )


def timestamp(at: datetime) -> str:
    """An instant as answers write it: UTC to the millisecond, `2026-03-05T14:02:11.123Z`."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _tag(reader: SnapshotReader | None, facts: ProfileFacts | None, route: str, asked: Mapping[str, Any]) -> str:
    # figures follow the settings they were built under; without any, only the currency shows, and it is a setting too
    settings = facts.settings_version if facts else auth.current().profile.settings_version
    content = [route, _profile_id(), pagination.period(asked), dict(asked)]
    return f"{reader.snapshot_id if reader else 'none'}.{settings}.{digest(content)}"


def digest(content: object) -> str:
    """16 hexadecimal digits of what an answer depends on beside its snapshot, and of the code that makes it."""
    told = orjson.dumps(content, default=plain_value, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(code_digest() + told).hexdigest()[:16]


def plain_value(value: object) -> object:
    """What JSON has no form for, of a parsed query; the `default` of a dump that names an answer."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Decimal):
        return str(value.normalize())
    raise TypeError(f"{type(value).__name__} is not part of a query")
