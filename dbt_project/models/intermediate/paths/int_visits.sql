{% set break_s = var('visit_break_s') %}

with clicks as (
    select
        *,
        row_number() over (partition by person_key, click_id order by ts, touch_key) as sight
    from {{ ref('int_arrivals') }}
),

pages as (
    select
        *,
        row_number() over (partition by person_key, named_ad, session_id order by ts, touch_key) as page,
        lag(ts) over (partition by person_key, named_ad order by ts, touch_key) as page_before_ts,
        lag(session_id) over (partition by person_key, named_ad order by ts, touch_key) as page_before_session
    from clicks
    where click_id is null or sight = 1
)

select
    profile_key,
    person_key,
    touch_key,
    ts,
    channel,
    origin,
    ad_platform,
    ad_id,
    ad_set_id,
    campaign_id,
    is_direct,
    is_paid,
    click_id_type,
    click_id,
    named_ad,
    utm_text
from pages
where
    named_ad is null
    or not (
        (session_id is not null and page > 1)
        or (
            (session_id is null or page_before_session is null)
            and coalesce(ts - page_before_ts < {{ break_s }}, false)
        )
    )
