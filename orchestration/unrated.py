"""Money that is in no figure of a snapshot, since no exchange rate converts it or it is beyond any real amount."""

from __future__ import annotations

from typing import Any

import duckdb

_SQL = """
    select
        profiles.profile_id,
        conversion_type as money,
        payments.currency,
        count(*) as amounts,
        max(unrated_through) as newest_day
    from conversions
    inner join profiles on conversions.profile_key = profiles.profile_key
    left join payments
        on conversions.profile_key = payments.profile_key and conversions.conversion_ref = payments.payment_ref
    where unrated_through is not null
    group by all
    union all
    select profile_id, 'delivery of ' || platform, null, null, unrated_through
    from platforms
    inner join profiles using (profile_key)
    where unrated_through is not null
    order by all
"""


def unrated(snapshot: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Per profile, kind of money and currency: how many amounts, and the newest day of one.

    Of what ad platforms delivered, the newest day alone; currency and count are null.
    """
    cursor = snapshot.execute(_SQL)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
