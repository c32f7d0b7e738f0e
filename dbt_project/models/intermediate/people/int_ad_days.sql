{{ by_person(since='day', told=['person_key', 'day']) }}
{{ packed(plain=['person_key', 'ad_key']) }}

select
    profile_key,
    person_key,
    ad_key,
    channel_no,
    origin_no,
    day,
    cast(count(*) as int) as touches
from {{ changed_rows('int_ad_touches', since='day') }}
group by profile_key, person_key, ad_key, channel_no, origin_no, day
