with {{ versions(
    source('lake', 'entity_reach'),
    ['_profile_id', 'platform', 'level', 'entity_id', 'date_from', 'date_to']
) }}

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
