with {{ versions(source('lake', 'experiments'), ['_profile_id', 'platform', 'platform_study_id']) }}

select
    _profile_id as profile_id,
    platform,
    platform_study_id,
    name,
    kind,
    status,
    start_date,
    end_date,
    objective,
    platform_lift,
    platform_ci_low,
    platform_ci_high,
    platform_winner_arm_id,
    updated_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
