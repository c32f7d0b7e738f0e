select
    ads.entity_key as ad_key,
    {{ lower_of('ads.platform') }} as channel,
    coalesce(creatives.format, 'unknown') as format,
    coalesce(campaigns.objective_group, objectives.objective_group, 'unknown') as objective,
    ad_sets.audience_warmth
from {{ ref('int_entities') }} as ads
inner join {{ ref('int_profiles') }} as profiles on ads.profile_key = profiles.profile_key
left join {{ ref('ad_creatives') }} as creatives
    on ads.profile_key = creatives.profile_key and ads.entity_key = creatives.entity_key
left join {{ ref('stg_ad_platform__campaigns') }} as campaigns
    on
        profiles.profile_id = campaigns.profile_id
        and ads.platform = campaigns.platform
        and ads.campaign_platform_id = campaigns.campaign_id
left join {{ ref('objectives') }} as objectives
    on {{ lower_of('campaigns.objective') }} = {{ lower_of('objectives.objective') }}
left join {{ ref('stg_ad_platform__ad_sets') }} as ad_sets
    on
        profiles.profile_id = ad_sets.profile_id
        and ads.platform = ad_sets.platform
        and ads.ad_set_platform_id = ad_sets.ad_set_id
where ads.level = 'ad'
