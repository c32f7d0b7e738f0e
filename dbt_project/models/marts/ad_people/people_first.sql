with ranked as (
    select
        *,
        row_number() over (partition by person_key order by ts, touch_key) as place
    from {{ ref('int_ad_touches') }}
)

select
    ranked.profile_key,
    ranked.day,
    ranked.channel,
    ranked.origin,
    ads.ad_key,
    cast(count(*) as int) as people
from ranked
inner join {{ ref('int_carried_ads') }} as ads
    on
        ranked.profile_key = ads.profile_key
        and ranked.ad_id = ads.ad_id
where ranked.place = 1
group by
    ranked.profile_key,
    ranked.day,
    ranked.channel,
    ranked.origin,
    ads.ad_key
