with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, platform, level, entity_id, date_from, date_to
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'entity_reach') }}
)

select
    _profile_id as profile_id,
    platform,
    level,
    entity_id,
    date_from,
    date_to,
    reach,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
