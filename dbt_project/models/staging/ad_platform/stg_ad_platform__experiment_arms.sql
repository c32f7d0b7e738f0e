with {{ versions(source('lake', 'experiment_arms'), ['_profile_id', 'platform', 'platform_study_id', 'arm_id']) }}

select
    _profile_id as profile_id,
    platform,
    platform_study_id,
    arm_id,
    name,
    role,
    entity_level,
    entity_ids,
    population,
    conversions,
    spend,
    currency,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
