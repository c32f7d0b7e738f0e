with synced as (
    select
        profile_key,
        platform_id,
        min(entity_key) as entity_key,
        min(name) as name
    from {{ ref('int_entities') }}
    where level = 'ad'
    group by profile_key, platform_id
    having count(*) = 1
)

select
    carried.profile_key,
    carried.ad_key,
    carried.ad_id,
    synced.name as ad_name,
    synced.entity_key
from {{ ref('int_carried_ads') }} as carried
left join synced
    on
        carried.profile_key = synced.profile_key
        and carried.ad_id = synced.platform_id
