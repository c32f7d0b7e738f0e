with ranked as (
    select
        *,
        row_number() over (
            partition by profile_id, creative_hash
            order by _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'creative_attributes') }}
)

select
    profile_id,
    creative_hash,
    hook_type,
    creative_format,
    cta_type,
    primary_angle,
    offers,
    analysed_at
from ranked
where recency = 1 and not _deleted
