with windows as (
    select e.profile_key, e.level, e.entity_key, r.date_from, r.date_to, r.reach
    from {{ ref('stg_ad_platform__entity_reach') }} as r
    inner join {{ ref('int_profiles') }} as p on r.profile_id = p.profile_id
    inner join {{ ref('int_entities') }} as e
        on p.profile_key = e.profile_key and r.level = e.level
        and r.platform = e.platform and r.entity_id = e.platform_id
),

ad_days as (
    select profile_key, 'ad' as level, ad_key as entity_key, day as date_from, day as date_to, reach
    from {{ ref('int_delivery') }}
    where reach is not null
),

unmeasured as (
    select d.*
    from ad_days as d
    left join windows as w
        on d.entity_key = w.entity_key and d.date_from = w.date_from and d.date_to = w.date_to
    where w.entity_key is null
)

select profile_key, level, entity_key, date_from, date_to, cast(reach as bigint) as reach
from windows
union all
select profile_key, level, entity_key, date_from, date_to, cast(reach as bigint) as reach
from unmeasured
