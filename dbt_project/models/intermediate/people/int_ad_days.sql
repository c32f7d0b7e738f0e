select
    touches.profile_key,
    touches.person_key,
    ads.ad_key,
    touches.channel,
    touches.origin,
    touches.day,
    cast(count(*) as int) as touches
from {{ ref('int_ad_touches') }} as touches
inner join {{ ref('int_carried_ads') }} as ads
    on
        touches.profile_key = ads.profile_key
        and touches.ad_id = ads.ad_id
group by
    touches.profile_key,
    touches.person_key,
    ads.ad_key,
    touches.channel,
    touches.origin,
    touches.day
