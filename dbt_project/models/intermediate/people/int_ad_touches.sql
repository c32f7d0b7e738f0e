{{ by_person() }}

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
        touch_key,
        ts,
        channel,
        origin,
        ad_id
    from {{ changed_rows('int_visits') }}

    union all

    select
        profile_key,
        person_key,
        touch_key,
        ts,
        'other' as channel,
        'other' as origin,
        ad_id
    from {{ changed_rows('int_record_touches') }}
)

select
    touches.profile_key,
    touches.person_key,
    touches.touch_key,
    touches.ts,
    touches.channel,
    touches.origin,
    ads.ad_key,
    calendar.local_date as day
from touches
inner join {{ ref('int_carried_ads') }} as ads
    on
        touches.profile_key = ads.profile_key
        and touches.ad_id = ads.ad_id
inner join profiles on touches.profile_key = profiles.profile_key
inner join calendar on {{ on_local_day('touches.ts') }}
