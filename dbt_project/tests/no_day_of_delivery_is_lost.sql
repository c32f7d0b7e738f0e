-- Every staged ad-day of an active profile is in the mart, also those whose entities were never synced.
select p.profile_key, count(d.ad_id) as ad_days, max(m.ad_days) as served
from {{ ref('int_profiles') }} as p
left join {{ ref('stg_ad_platform__delivery') }} as d on p.profile_id = d.profile_id
left join (
    select profile_key, count(*) as ad_days from {{ ref('delivery_daily') }} where level = 'ad' group by profile_key
) as m on p.profile_key = m.profile_key
group by p.profile_key
having count(d.ad_id) <> coalesce(max(m.ad_days), 0)
