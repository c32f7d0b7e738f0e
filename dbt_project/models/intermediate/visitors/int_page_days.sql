{{ compared(['profile_key', 'anonymous_id', 'day', 'first_ts', 'last_ts']) }}

select
    profiles.profile_key,
    events.anonymous_id,
    calendar.local_date as day,
    min(events.occurred_s) as first_ts,
    max(events.occurred_s) as last_ts
from {{ ref('stg_app__page_events') }} as events
inner join {{ ref('int_profiles') }} as profiles on events.profile_id = profiles.profile_id
inner join {{ ref('stg_app__calendar') }} as calendar
    on
        profiles.time_zone = calendar.time_zone
        and cast(floor(events.occurred_s / 86400.0) as int) = calendar.utc_day
        and events.occurred_s >= calendar.starts_at
        and events.occurred_s < calendar.ends_at
where events.anonymous_id is not null
group by profiles.profile_key, events.anonymous_id, calendar.local_date
