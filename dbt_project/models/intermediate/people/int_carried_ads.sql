select
    profile_key,
    cast(row_number() over (order by profile_key, ad_id) as int) as ad_key,
    ad_id
from (select distinct profile_key, ad_id from {{ ref('int_ad_touches') }}) as carried
