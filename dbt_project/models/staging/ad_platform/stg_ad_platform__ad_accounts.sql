with {{ versions(source('lake', 'ad_accounts'), ['_profile_id', 'platform', 'ad_account_id']) }}

select
    _profile_id as profile_id,
    platform,
    ad_account_id,
    name,
    currency,
    timezone,
    status,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
