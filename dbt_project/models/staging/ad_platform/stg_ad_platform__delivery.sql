with {{ versions(source('lake', 'ad_delivery'), ['_profile_id', 'platform', 'ad_id', 'date']) }}

select
    _profile_id as profile_id,
    platform,
    ad_id,
    date,
    ad_account_id,
    ad_set_id,
    campaign_id,
    currency,
    spend,
    impressions,
    clicks,
    link_clicks,
    reach,
    video_3s_views,
    video_15s_views,
    reactions,
    comments,
    shares,
    saves,
    messaging_conversations_started_7d,
    messaging_first_replies,
    platform_conversions,
    platform_conversion_value,
    platform_basis,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
