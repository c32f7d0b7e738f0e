{{ config(materialized='view') }}

select
    delivery.window_key,
    delivery.profile_key,
    delivery.ad_key,
    traits.channel,
    traits.format,
    traits.objective,
    coalesce(
        traits.audience_warmth,
        case when lower(majorities.audience) in ('hot', 'warm', 'cold', 'mixed') then lower(majorities.audience) end,
        'unknown'
    ) as warmth,
    translate(lower(coalesce(majorities.geo, 'unknown')), '|', '/') as geo,
    translate(lower(coalesce(majorities.placement, 'unknown')), '|', '/') as placement
from {{ ref('int_score_delivery') }} as delivery
inner join {{ ref('int_ad_traits') }} as traits on delivery.ad_key = traits.ad_key
left join {{ ref('int_score_majorities') }} as majorities
    on delivery.window_key = majorities.window_key and delivery.ad_key = majorities.ad_key
