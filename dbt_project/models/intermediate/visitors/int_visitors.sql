with events as (
    select
        profiles.profile_key,
        events.anonymous_id,
        events.event_id,
        events.event_name,
        events.occurred_s,
        events.session_id,
        events.opens_visit,
        events.utm_source,
        events.channel,
        events.country,
        events.device
    from {{ ref('stg_app__page_events') }} as events
    inner join {{ ref('int_profiles') }} as profiles on events.profile_id = profiles.profile_id
    where
        events.anonymous_id is not null
        and not {{ is_made_up('events.anonymous_id') }}
),

counted as (
    select
        profile_key,
        anonymous_id,
        cast(count(distinct session_id) as int) as sessions,
        cast(sum(case when event_name = 'page_view' then 1 else 0 end) as int) as pageviews,
        max(occurred_s) as last_seen
    from events
    group by profile_key, anonymous_id
),

ranked as (
    select
        profile_key,
        anonymous_id,
        utm_source,
        channel,
        country,
        device,
        opens_visit,
        row_number() over (
            partition by profile_key, anonymous_id, opens_visit order by occurred_s desc, event_id asc
        ) as visit,
        row_number() over (partition by profile_key, anonymous_id order by occurred_s desc, event_id asc) as recency
    from events
)

select
    counted.profile_key,
    counted.anonymous_id,
    cast(row_number() over (order by counted.profile_key, counted.anonymous_id) as int) as visitor_key,
    counted.sessions,
    counted.pageviews,
    counted.last_seen,
    visits.channel,
    visits.utm_source,
    newest.country,
    newest.device
from counted
inner join ranked as newest
    on
        counted.profile_key = newest.profile_key
        and counted.anonymous_id = newest.anonymous_id
        and newest.recency = 1
left join ranked as visits
    on
        counted.profile_key = visits.profile_key
        and counted.anonymous_id = visits.anonymous_id
        and visits.opens_visit
        and visits.visit = 1
