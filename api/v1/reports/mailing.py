"""How much mail reports that somebody orders may make: so many messages of a person within an hour."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api import errors, rate_limit

# what the largest call mails: 100 reports, each to 20 addresses
HOURLY = rate_limit.Bucket("request_rate", limit=2_000, window=3600 * rate_limit.SECOND)


def spend(session: Session, user_id: str, messages: int) -> None:
    """Count the messages of a call, in whatever workspace; 429 rate_limit_exceeded beyond 2,000 within an hour."""
    bucket = f"user:{user_id}:report_mail"
    charged = rate_limit.charge(session, bucket, units=messages, limit=HOURLY.limit, window=HOURLY.window)
    if charged.retry_after is not None:
        raise errors.RATE_LIMIT_EXCEEDED(
            f"At most {HOURLY.limit:,} reports can be mailed in an hour, and this would mail {messages:,} "
            f"where {charged.remaining:,} are left.",
            reason=HOURLY.reason,
            headers={"Retry-After": str(charged.retry_after)},
        )
