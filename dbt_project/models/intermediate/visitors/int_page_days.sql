{{ compared(['profile_key', 'anonymous_id', 'day', 'first_ts', 'last_ts']) }}

select
    profiles.profile_key,
    events.anonymous_id,
    calendar.local_date as day,
    min(events.occurred_s) as first_ts,
    max(events.occurred_s) as last_ts
from {{ ref('stg_app__page_events') }} as events
inner join {{ ref('int_profiles') }} as profiles on events.profile_id = profiles.profile_id
inner join {{ ref('stg_app__calendar') }} as calendar on {{ on_local_day('events.occurred_s') }}
where events.anonymous_id is not null
group by profiles.profile_key, events.anonymous_id, calendar.local_date
