{{ by_person('int_changed_customers', since='day') }}

with identifiers as (
    select profile_key, person_key, kind, value, is_shared, first_seen_at
    from {{ changed_rows('int_person_identifiers', 'int_changed_customers', since=none) }}
),

seen as (
    select profile_key, person_key, ts
    from {{ changed_rows('int_touches', 'int_changed_customers') }}

    union all

    select profile_key, person_key, ts
    from {{ changed_rows('int_conversions', 'int_changed_customers') }}
    where person_key is not null

    union all

    select profile_key, person_key, {{ epoch_seconds('first_seen_at') }} as ts
    from identifiers
    where first_seen_at is not null
),

days as (
    select
        seen.profile_key,
        seen.person_key,
        calendar.local_date as day,
        seen.ts as first_ts,
        seen.ts as last_ts
    from seen
    inner join {{ ref('int_profiles') }} as profiles on seen.profile_key = profiles.profile_key
    inner join {{ ref('stg_app__calendar') }} as calendar on {{ on_local_day('seen.ts') }}

    union all

    select identifiers.profile_key, identifiers.person_key, pages.day, pages.first_ts, pages.last_ts
    from identifiers
    inner join {{ ref('int_page_days') }} as pages
        on
            identifiers.profile_key = pages.profile_key
            and identifiers.value = pages.anonymous_id
    where identifiers.kind = 'anonymous_id' and not identifiers.is_shared
)

select
    days.profile_key,
    days.person_key,
    days.day,
    min(days.first_ts) as first_ts,
    max(days.last_ts) as last_ts
from days
{{ only_changed('int_changed_customers', 'days.person_key', 'days.day', 'day') }}
group by days.profile_key, days.person_key, days.day
