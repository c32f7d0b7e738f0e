with starts as (
    select profile_key, min(day) as first_day
    from {{ ref('int_delivery') }}
    group by profile_key
),

lengths as (
    select 'lifetime' as score_window, cast(null as int) as days, 0 as weeks_ago
    {%- for days in [7, 14, 28] %}
    union all
    select '{{ days }}d', {{ days }}, 0
    {%- endfor %}
    {%- for week in range(1, var('score_history_weeks') + 1) %}
    union all
    select '28d', 28, {{ week }}
    {%- endfor %}
),

dated as (
    select
        profiles.profile_key,
        lengths.score_window,
        lengths.days,
        lengths.weeks_ago,
        starts.first_day,
        cast(profiles.delivery_through - 7 * lengths.weeks_ago as date) as as_of
    from {{ ref('profiles') }} as profiles
    inner join starts on profiles.profile_key = starts.profile_key
    cross join lengths
)

select
    cast(row_number() over (order by profile_key, weeks_ago, score_window) as int) as window_key,
    profile_key,
    score_window,
    as_of,
    case when days is null then first_day else cast(as_of - (days - 1) as date) end as day_from,
    weeks_ago = 0 as is_current
from dated
where as_of >= first_day
