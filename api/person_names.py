"""Who people are: the file of names beside each snapshot, the only published place that tells it.

The served file, which every figure is read from, knows people by pseudonyms. `names-<snapshot_id>.duckdb` is opened by
the reads of personal data alone, for the length of one answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from api import errors
from api.snapshot import RETRY_AFTER
from api.snapshot_files import Unopenable, connect, names_file
from touchledger.settings import Settings

_OF = """
select person_key, first_name, last_name, email, phone, external_ref
from person_names where profile_key = $profile_key and person_key = any($keys)
"""
_STARTING = """
select person_key from person_names
where profile_key = $profile_key and (
    starts_with(lower(email), $text)
    or starts_with(lower(concat_ws(' ', first_name, last_name)), $text)
    or starts_with(lower(last_name), $text)
)
"""
# what a masked answer does not tell cannot be found out letter by letter either
_RECOGNISED = """
select person_key from person_names
where profile_key = $profile_key and (
    lower(email) = $text or starts_with(lower(split_part(first_name, ' ', 1)), $text)
)
"""


@dataclass(frozen=True, slots=True)
class Named:
    """What somebody is called and reached by; None for what nobody told."""

    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    phone: str | None = None
    external_ref: str | None = None

    @property
    def name(self) -> str | None:
        """First and last name."""
        return " ".join(part for part in (self.first_name, self.last_name) if part) or None


NOBODY = Named()


class Names:
    """The people of one profile in one snapshot."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, profile_key: int) -> None:
        self._cursor, self._profile_key = cursor, profile_key

    def of(self, person_keys: Collection[int]) -> dict[int, Named]:
        """Those of these people who have a name, an address, a phone or an own id."""
        bound = {"profile_key": self._profile_key, "keys": list(person_keys)}
        return {key: Named(*told) for key, *told in self._cursor.execute(_OF, bound).fetchall()}

    def starting_with(self, text: str, *, masked: bool) -> list[int]:
        """People whose e-mail, name or last name starts with the text, in whatever case.

        With `masked` those whose first name starts with it, or whose whole e-mail it is.
        """
        bound = {"profile_key": self._profile_key, "text": text.lower()}
        return [key for (key,) in self._cursor.execute(_RECOGNISED if masked else _STARTING, bound).fetchall()]


@contextmanager
def names(settings: Settings, snapshot_id: str, profile_key: int) -> Iterator[Names]:
    """The names of a snapshot; database_unavailable where its file is gone or damaged."""
    try:
        with connect(settings.published / names_file(snapshot_id), settings) as connection:
            yield Names(connection, profile_key)
    except (Unopenable, duckdb.Error) as broken:
        raise errors.DATABASE_UNAVAILABLE(headers=RETRY_AFTER) from broken
