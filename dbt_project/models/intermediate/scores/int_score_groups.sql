{% set parts = ['channel', 'objective', 'format', 'warmth', 'geo', 'placement'] %}
{% set numbers = 'window_key, channel_no, objective_no, format_no, warmth_no, geo_no, placement_no' %}

with numbered as (
    select
        cast(row_number() over (order by {{ numbers }}) as int) as group_key,
        cast(dense_rank() over (order by window_key, channel_no, objective_no) as int) as root_key,
        cast(dense_rank() over (order by window_key, channel_no, objective_no, format_no) as int) as format_key,
        cast(
            dense_rank() over (order by window_key, channel_no, objective_no, format_no, warmth_no) as int
        ) as warmth_key,
        cast(
            dense_rank() over (order by window_key, channel_no, objective_no, format_no, warmth_no, geo_no) as int
        ) as geo_key,
        {{ numbers }},
        cast(count(*) as int) as ads
    from {{ ref('int_score_traits') }}
    group by {{ numbers }}
)

select
    numbered.*,
    channels.word || '|' || formats.word || '|' || objectives.word || '|' || warmths.word || '|'
    || geos.word || '|' || placements.word as cohort_key
    {%- for part in parts[:4] %},
        {{ part }}s.word as {{ part }}
    {%- endfor %}
from numbered
{%- for part in parts %}
inner join {{ ref('int_score_words') }} as {{ part }}s on numbered.{{ part }}_no = {{ part }}s.word_no
{%- endfor %}
