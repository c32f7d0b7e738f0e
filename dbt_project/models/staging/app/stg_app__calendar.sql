{{ compared(['time_zone', 'utc_day', 'local_date', 'starts_at', 'ends_at']) }}

with ranked as (
    select
        *,
        row_number() over (
            partition by time_zone, starts_at
            order by _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'calendar') }}
)

select
    time_zone,
    utc_day,
    local_date,
    starts_at,
    ends_at
from ranked
where recency = 1 and not _deleted
