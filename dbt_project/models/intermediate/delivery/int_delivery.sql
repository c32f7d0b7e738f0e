select
    p.profile_key,
    d.date as day,
    d.platform,
    d.ad_account_id,
    ad.entity_key as ad_key,
    ad_set.entity_key as ad_set_key,
    campaign.entity_key as campaign_key,
    d.currency,
    d.spend,
    r.rate,
    r.rate_date,
    r.source as rate_source,
    r.rate is null as is_rate_missing,
    {{ minor_units('d.spend', 'r.rate', 'p.currency_digits') }} as spend_minor,
    d.impressions,
    d.clicks,
    d.link_clicks,
    d.reach,
    d.video_3s_views,
    d.video_15s_views,
    d.reactions,
    d.comments,
    d.shares,
    d.saves,
    d.messaging_conversations_started_7d,
    d.messaging_first_replies,
    d.platform_conversions,
    {{ minor_units('d.platform_conversion_value', 'r.rate', 'p.currency_digits') }}
        as platform_conversion_value_minor,
    coalesce(d.platform_basis, 'unknown') as platform_basis,
    d.loaded_at
from {{ ref('stg_ad_platform__delivery') }} as d
inner join {{ ref('int_profiles') }} as p on d.profile_id = p.profile_id
inner join {{ ref('int_entities') }} as ad
    on p.profile_key = ad.profile_key and ad.level = 'ad'
    and d.platform = ad.platform and d.ad_id = ad.platform_id
inner join {{ ref('int_entities') }} as ad_set
    on p.profile_key = ad_set.profile_key and ad_set.level = 'ad_set'
    and d.platform = ad_set.platform and d.ad_set_id = ad_set.platform_id
inner join {{ ref('int_entities') }} as campaign
    on p.profile_key = campaign.profile_key and campaign.level = 'campaign'
    and d.platform = campaign.platform and d.campaign_id = campaign.platform_id
left join {{ ref('int_fx_rates') }} as r
    on d.date = r.day and d.currency = r.base and p.currency = r.quote
