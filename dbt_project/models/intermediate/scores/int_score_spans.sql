with starts as (
    select
        profile_key,
        as_of,
        day_from,
        min(window_key) as span_key
    from {{ ref('int_score_windows') }}
    group by profile_key, as_of, day_from
),

spans as (
    select
        *,
        lead(day_from) over (partition by profile_key, as_of order by day_from) as next_from
    from starts
)

select
    windows.window_key,
    spans.span_key,
    spans.profile_key,
    spans.as_of,
    spans.day_from,
    coalesce(cast(spans.next_from - 1 as date), spans.as_of) as day_to
from {{ ref('int_score_windows') }} as windows
inner join spans
    on
        windows.profile_key = spans.profile_key
        and windows.as_of = spans.as_of
        and windows.day_from <= spans.day_from
