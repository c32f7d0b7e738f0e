{{ by_person() }}
{{ packed(plain=['person_key', 'ad_key']) }}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

calendar as (
    select * from {{ ref('stg_app__calendar') }}
),

touches as (
    select
        profile_key,
        person_key,
        record_no,
        ts,
        channel_no,
        origin_no,
        ad_id
    from {{ changed_rows('int_visits') }}

    union all

    select
        profile_key,
        person_key,
        record_no,
        ts,
        {{ number_of("'other'", touch_channels()) }} as channel_no,
        {{ number_of("'other'", touch_origins()) }} as origin_no,
        ad_id
    from {{ changed_rows('int_record_touches') }}
)

select
    touches.profile_key,
    touches.person_key,
    touches.record_no,
    touches.ts,
    touches.channel_no,
    touches.origin_no,
    ads.ad_key,
    calendar.local_date as day
from touches
inner join {{ ref('int_carried_ads') }} as ads
    on
        touches.profile_key = ads.profile_key
        and touches.ad_id = ads.ad_id
inner join profiles on touches.profile_key = profiles.profile_key
inner join calendar on {{ on_local_day('touches.ts') }}
