with carried as (
    select distinct profile_key, ad_id
    from (
        select profile_key, ad_id from {{ ref('int_visits') }}
        union all
        select profile_key, ad_id from {{ ref('int_record_touches') }}
    ) as touches
    where ad_id is not null
)

select
    carried.profile_key,
    {{ key_of("profiles.profile_id || ':' || carried.ad_id") }} as ad_key,
    carried.ad_id
from carried
inner join {{ ref('int_profiles') }} as profiles on carried.profile_key = profiles.profile_key
where {{ ad_id_fault('carried.ad_id') }} is null
