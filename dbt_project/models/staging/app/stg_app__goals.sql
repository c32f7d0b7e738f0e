{{ compared(['profile_id', 'conversion_key', 'revenue_type', 'attribution_eligible']) }}

with ranked as (
    select
        *,
        row_number() over (
            partition by profile_id, conversion_key
            order by _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'goals') }}
)

select
    profile_id,
    conversion_key,
    revenue_type,
    attribution_eligible
from ranked
where recency = 1 and not _deleted
