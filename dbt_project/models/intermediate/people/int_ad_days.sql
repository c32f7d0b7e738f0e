select
    profile_key,
    person_key,
    ad_key,
    channel,
    origin,
    day,
    cast(count(*) as int) as touches
from {{ ref('int_ad_touches') }}
group by profile_key, person_key, ad_key, channel, origin, day
