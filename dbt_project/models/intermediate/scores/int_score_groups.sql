{% set parts = 'window_key, channel, objective, format, warmth, geo, placement' %}

select
    cast(row_number() over (order by {{ parts }}) as int) as group_key,
    cast(dense_rank() over (order by window_key, channel, objective) as int) as root_key,
    cast(dense_rank() over (order by window_key, channel, objective, format) as int) as format_key,
    cast(dense_rank() over (order by window_key, channel, objective, format, warmth) as int) as warmth_key,
    cast(dense_rank() over (order by window_key, channel, objective, format, warmth, geo) as int) as geo_key,
    window_key,
    channel || '|' || format || '|' || objective || '|' || warmth || '|' || geo || '|' || placement as cohort_key,
    channel,
    objective,
    format,
    warmth,
    geo,
    placement,
    cast(count(*) as int) as ads
from {{ ref('int_score_traits') }}
group by {{ parts }}
