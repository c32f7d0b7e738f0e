select
    profile_key,
    day,
    channel,
    origin,
    ad_key,
    cast(count(*) as int) as people
from {{ ref('int_first_ad_touches') }}
group by profile_key, day, channel, origin, ad_key
