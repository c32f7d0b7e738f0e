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
    profile_key,
    cast(row_number() over (order by profile_key, ad_id) as int) as ad_key,
    ad_id
from carried
where {{ ad_id_fault('ad_id') }} is null
