{{ compared(['profile_id', 'event_origin', 'event_name', 'conversion_key']) }}

with ranked as (
    select
        *,
        row_number() over (
            partition by profile_id, event_origin, event_name
            order by _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'goal_events') }}
)

select
    profile_id,
    event_origin,
    event_name,
    conversion_key
from ranked
where recency = 1 and not _deleted
