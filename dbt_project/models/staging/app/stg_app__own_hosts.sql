with ranked as (
    select
        *,
        row_number() over (
            partition by profile_id, host
            order by _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'own_hosts') }}
)

select
    profile_id,
    host
from ranked
where recency = 1 and not _deleted
