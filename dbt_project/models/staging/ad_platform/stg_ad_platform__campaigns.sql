with {{ versions(source('lake', 'campaigns'), ['_profile_id', 'platform', 'campaign_id']) }}

select
    _profile_id as profile_id,
    platform,
    campaign_id,
    ad_account_id,
    name,
    status,
    objective,
    objective_group,
    daily_budget_minor,
    lifetime_budget_minor,
    created_at,
    updated_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
