with {{ versions(
    source('lake', 'ad_delivery_breakdowns'),
    ['_profile_id', 'platform', 'ad_id', 'date', 'dimension', 'value']
) }}

select
    _profile_id as profile_id,
    platform,
    ad_id,
    date,
    dimension,
    value,
    impressions,
    spend,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
