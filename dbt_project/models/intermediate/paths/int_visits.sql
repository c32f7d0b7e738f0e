{{ config(materialized='view') }}

select
    profile_key,
    person_key,
    record_no,
    ts,
    channel_no,
    origin_no,
    ad_platform,
    ad_id,
    ad_set_id,
    campaign_id,
    is_direct,
    is_paid,
    click_id_type
from {{ ref('int_arrivals') }}
where
    record_no not in (select repeats.record_no from {{ ref('int_repeats') }} as repeats)
    and record_no not in (
        select sights.record_no
        from {{ ref('int_record_sights') }} as sights
        where not sights.is_touch
    )
