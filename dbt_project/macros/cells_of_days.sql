{# Cells of people_cells() from rows like those of int_ad_days. Who was met in one channel and one origin only has the same
   day before in every scope, so that only the others, whom `is_mixed` marks, are followed scope by scope. #}
{% macro cells_of_days(ad_days, of_ads) -%}
{%- set ad = ['ad_key'] if of_ads else [] -%}
{%- set person = ['person_key'] + ad -%}
with mixed as (
    select {{ person | join(', ') }}
    from {{ ad_days }}
    group by {{ person | join(', ') }}
    having min(channel_no) < max(channel_no) or min(origin_no) < max(origin_no)
),

days as (
    select days.*, mixed.person_key is not null as is_mixed
    from {{ ad_days }} as days
    left join mixed on {% for key in person %}{{ ' and ' if not loop.first }}days.{{ key }} = mixed.{{ key }}{% endfor %}
),

mixed_days as (
    select * from days
    where is_mixed
),

narrowest as (
    {{ scope_cells('days', ['channel_no', 'origin_no'], ad) }}
),

stacked as (
    select * from narrowest
    {%- for scope in [[], ['channel_no'], ['origin_no']] %}
    union all
    select
        profile_key,
        {{ 'channel_no' if 'channel_no' in scope else 'cast(0 as smallint) as channel_no' }},
        {{ 'origin_no' if 'origin_no' in scope else 'cast(0 as smallint) as origin_no' }},
        {{ 'ad_key,' if of_ads }}
        day,
        prev,
        is_mixed,
        people,
        touches
    from narrowest
    where not is_mixed
    union all
    {{ scope_cells('mixed_days', scope, ad) }}
    {%- endfor %}
)

select
    profile_key,
    channel_no,
    origin_no,
    {{ 'ad_key,' if of_ads }}
    day,
    prev,
    cast(sum(people) as int) as people,
    cast(sum(touches) as int) as touches
from stacked
group by profile_key, channel_no, origin_no, {{ 'ad_key,' if of_ads }} day, prev
{%- endmacro %}
