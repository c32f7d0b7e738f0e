select
    profile_key,
    day,
    {{ word_of('channel_no', touch_channels()) }} as channel,
    {{ word_of('origin_no', touch_origins()) }} as origin,
    ad_key,
    cast(count(*) as int) as people
from {{ ref('int_first_ad_touches') }}
group by profile_key, day, channel_no, origin_no, ad_key
