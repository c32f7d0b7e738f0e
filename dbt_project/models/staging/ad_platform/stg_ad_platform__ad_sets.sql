with {{ versions(source('lake', 'ad_sets'), ['_profile_id', 'platform', 'ad_set_id']) }}

select
    _profile_id as profile_id,
    platform,
    ad_set_id,
    campaign_id,
    name,
    status,
    optimization_goal,
    audience_warmth,
    daily_budget_minor,
    lifetime_budget_minor,
    dataset_id,
    created_at,
    updated_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
