with seen as (
    select profile_key, person_key, ts
    from {{ ref('int_touches') }}

    union all

    select profile_key, person_key, ts
    from {{ ref('int_conversions') }}
    where person_key is not null

    union all

    select profile_key, person_key, {{ epoch_seconds('first_seen_at') }} as ts
    from {{ ref('int_person_identifiers') }}
    where first_seen_at is not null

    union all

    select identifiers.profile_key, identifiers.person_key, events.occurred_s as ts
    from {{ ref('stg_app__page_events') }} as events
    inner join {{ ref('int_profiles') }} as profiles on events.profile_id = profiles.profile_id
    inner join {{ ref('int_person_identifiers') }} as identifiers
        on
            profiles.profile_key = identifiers.profile_key
            and events.anonymous_id = identifiers.value
            and identifiers.kind = 'anonymous_id'
            and not identifiers.is_shared
)

select
    seen.profile_key,
    seen.person_key,
    calendar.local_date as day,
    min(seen.ts) as first_ts,
    max(seen.ts) as last_ts
from seen
inner join {{ ref('int_profiles') }} as profiles on seen.profile_key = profiles.profile_key
inner join {{ ref('stg_app__calendar') }} as calendar
    on
        profiles.time_zone = calendar.time_zone
        and cast(floor(seen.ts / 86400.0) as int) = calendar.utc_day
        and seen.ts >= calendar.starts_at
        and seen.ts < calendar.ends_at
group by
    seen.profile_key,
    seen.person_key,
    calendar.local_date
