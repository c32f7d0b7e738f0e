"""What can go wrong at a provider. Every connector raises only members of this family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

R = TypeVar("R", bound=Mapping[str, Any])
T = TypeVar("T")

# quotas are counted by the day at most: a longer wait is a slip, and a moment so far off may not even exist
LONGEST_WAIT = 86_400.0


class ConnectorError(Exception):
    """A provider did not give what was asked.

    `reason` is a short stable slug that may be stored and shown; `status` is the HTTP status, if there was an answer;
    `code` the provider's own number for a refusal, where it told one. `repeated` says that the same request was sent
    before and ended otherwise: it may have been carried out then, whatever is refused now.
    Messages are redacted before they get here.
    """

    reason = "connector_error"

    def __init__(
        self,
        provider: str,
        message: str,
        *,
        reason: str | None = None,
        status: int | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(f"{provider}: {message}")
        self.code = code
        self.provider = provider
        self.repeated = False
        self.reason = reason or type(self).reason
        self.status = status


class Revoked(ConnectorError):
    """The credential is dead. Never repeat; the connection needs its owner."""

    reason = "connection_revoked"


class Refused(ConnectorError):
    """The provider understood and said no: a missing permission, a bad parameter, a policy block. Never repeat."""

    reason = "refused"


class Throttled(ConnectorError):
    """The quota is used up. `wait` is the provider's own statement in seconds, None when it gave none.

    A statement of more than `LONGEST_WAIT` is that.
    """

    reason = "throttled"

    def __init__(self, provider: str, message: str, *, wait: float | None = None, status: int | None = None) -> None:
        super().__init__(provider, message, status=status)
        self.wait = None if wait is None else min(wait, LONGEST_WAIT)


class Transient(ConnectorError):
    """A failure that the next attempt may not see: a 5xx, a timeout, a broken connection."""

    reason = "transient"


class OutOfTime(Transient):
    """The whole time that was given for asking is over. Never repeated: the caller has somebody waiting."""

    reason = "timeout"


class Malformed(ConnectorError):
    """The answer is not what the protocol promises: HTML, cut JSON, a page that never ends."""

    reason = "malformed"


class CursorExpired(ConnectorError):
    """The position in a list is no longer known to the provider; the list must be walked from its start."""

    reason = "cursor_expired"


class TooMuchData(ConnectorError):
    """The provider could not compute an answer of this size; ask for less."""

    reason = "too_much_data"


class TooManyRows(TooMuchData):
    """All pages together hold more than the provider computes, so smaller ones do not help; ask for fewer days."""

    reason = "too_many_rows"


# what a row misses or has of another kind
_ODD = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
LONGEST_NAME = 200


@contextmanager
def as_promised(provider: str) -> Iterator[None]:
    """Turns a missing or odd field of a row into Malformed."""
    try:
        yield
    except _ODD as error:
        raise Malformed(provider, f"a row is not as promised ({type(error).__name__}: {error})") from None


def each(provider: str, rows: Iterable[R], made: Callable[[R], T]) -> list[T]:
    """What is made of each row. Raises Malformed where one is not as promised, which names it by its ids and day."""
    found = []
    for row in rows:
        try:
            found.append(made(row))
        except Malformed as odd:
            odd.args = (f"{odd}, in the row of {_named(row)}",)
            raise
        except _ODD as error:
            message = f"the row of {_named(row)} is not as promised ({type(error).__name__}: {error})"
            raise Malformed(provider, message) from None
    return found


def _named(row: Mapping[str, Any]) -> str:
    return ", ".join(_names(row))[:LONGEST_NAME] or "no id"


def _names(row: Mapping[str, Any], within: str = "") -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _names(value, f"{within}{name}.")
        elif name == "id" or name.endswith("_id") or name in ("date", "date_start", "stat_time_day"):
            yield f"{within}{name} {value}"
