{{ config(materialized='view') }}

select
    profile_key,
    person_key,
    record_no,
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
from {{ ref('int_arrivals') }}
where record_no not in (select repeats.record_no from {{ ref('int_repeats') }} as repeats)
