"""SQL behind the payments: a page of them, and one by its reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from api.served import ProfileFacts, Reader

_COLUMNS = "payment_ref, ts, value, refunded, refunded_by_hand, refunded_beyond, currency, person_ref, payer_hint"
_PAGE = f"""
select {_COLUMNS}
from payments
where profile_key = $profile_key
    and ts between $since and $until
    and (not $unidentified or person_ref is null)
    and ($after_ts is null or (-ts, payment_ref) > (-$after_ts, $after_ref))
order by ts desc, payment_ref
limit $most
"""  # noqa: S608 - a constant
_ONE = f"select {_COLUMNS} from payments where profile_key = $profile_key and payment_ref = $payment_ref"  # noqa: S608
_NAMES = """
select payment_ref, name from payment_names
where profile_key = $profile_key and payment_ref = any($refs)
order by payment_ref, name
"""

EVER = (0, 2**40)
EPOCH, SECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(seconds=1)


@dataclass(frozen=True)
class Asked:
    """Which payments: all or only those without a payer, of an interval of time (both ends included) or ever."""

    unidentified: bool
    since: datetime | None
    until: datetime | None

    @property
    def seconds(self) -> tuple[int, int]:
        """The first and the last whole second of it since 1970; the first is after the last where it holds none."""
        if self.since is None or self.until is None:
            return EVER
        return -((EPOCH - self.since) // SECOND), (self.until - EPOCH) // SECOND


def page(
    reader: Reader, profile: ProfileFacts, asked: Asked, *, most: int, after: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Up to `most` payments, newest first; `after` is the (ts, payment_ref) of the last row already given.

    `names` are all that each is called by, its reference first: what was entered by hand may stand under an older one.
    """
    since, until = asked.seconds
    after_ts, after_ref = after or (None, "")
    found = reader.dicts(
        _PAGE,
        {
            "profile_key": profile.profile_key,
            "since": since,
            "until": until,
            "unidentified": asked.unidentified,
            "after_ts": after_ts,
            "after_ref": after_ref,
            "most": most,
        },
    )
    return _named(reader, profile, found)


def one(reader: Reader, profile: ProfileFacts, payment_ref: str) -> dict[str, Any] | None:
    """The payment of that reference, as `page` gives it, or None."""
    found = reader.dicts(_ONE, {"profile_key": profile.profile_key, "payment_ref": payment_ref})
    return _named(reader, profile, found)[0] if found else None


def _named(reader: Reader, profile: ProfileFacts, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {payment["payment_ref"]: [payment["payment_ref"]] for payment in found}
    for ref, name in reader.rows(_NAMES, {"profile_key": profile.profile_key, "refs": list(names)}):
        names[ref].append(name)
    return [{**payment, "names": names[payment["payment_ref"]]} for payment in found]
