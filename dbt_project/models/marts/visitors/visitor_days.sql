with days as (
    select distinct
        visitors.profile_key,
        calendar.local_date as day,
        visitors.visitor_key
    from {{ ref('stg_app__page_events') }} as events
    inner join {{ ref('int_profiles') }} as profiles on events.profile_id = profiles.profile_id
    inner join {{ ref('int_visitors') }} as visitors
        on
            profiles.profile_key = visitors.profile_key
            and events.anonymous_id = visitors.anonymous_id
    inner join {{ ref('stg_app__calendar') }} as calendar
        on
            profiles.time_zone = calendar.time_zone
            and cast(floor(events.occurred_s / 86400.0) as int) = calendar.utc_day
            and events.occurred_s >= calendar.starts_at
            and events.occurred_s < calendar.ends_at
)

select * from days
order by profile_key, day, visitor_key
