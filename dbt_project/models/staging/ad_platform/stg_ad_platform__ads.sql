with {{ versions(source('lake', 'ads'), ['_profile_id', 'platform', 'ad_id']) }}

select
    _profile_id as profile_id,
    platform,
    ad_id,
    ad_set_id,
    campaign_id,
    name,
    status,
    creative_id,
    url_tags,
    landing_url,
    created_at,
    updated_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
