{# Why the text that a link gave as its ad is no id of an ad, null when it may be one: the macro of the platform was sent
   as it stands, or it holds signs that no platform's id has. #}
{% macro ad_id_fault(ad_id) -%}
    {%- set digits = '0123456789' -%}
    {%- set letters = 'abcdefghijklmnopqrstuvwxyz' -%}
    case
        when
            position('{' in {{ ad_id }}) > 0
            or position('}' in {{ ad_id }}) > 0
            or position('%7b' in lower({{ ad_id }})) > 0
            or (length({{ ad_id }}) > 4 and left({{ ad_id }}, 2) = '__' and right({{ ad_id }}, 2) = '__')
            then 'macro_not_expanded'
        when translate(lower({{ ad_id }}), '{{ digits ~ letters }}_.:-', '') <> '' then 'malformed_ad_id'
    end
{%- endmacro %}

{# The day that stands for "no earlier ad touch at all"; a date clipped by people_memory_days is never this one. #}
{% macro no_day() -%}
    cast('0001-01-01' as date)
{%- endmacro %}

{# Cells of one scope: how many people, and touches of theirs, a day had whose day before is `prev`. What the scope does
   not ask for is told as `all`. `days` has person_key, the keys of the cells, touches and is_mixed. #}
{% macro scope_cells(days, scope, ad) -%}
    {%- set keys = ['profile_key', 'person_key'] + scope + ad + ['day', 'is_mixed'] -%}
    select
        profile_key,
        channel,
        origin,
        {{ 'ad_key,' if ad }}
        day,
        case
            when before_day is null then {{ no_day() }}
            else greatest(before_day, day - {{ var('people_memory_days') }})
        end as prev,
        is_mixed,
        count(*) as people,
        sum(touches) as touches
    from (
        select
            *,
            lag(day) over (partition by {{ (['person_key'] + scope + ad) | join(', ') }} order by day) as before_day
        from (
            select
                {{ keys | join(', ') }},
                {{ "'all' as channel," if 'channel' not in scope }}
                {{ "'all' as origin," if 'origin' not in scope }}
                sum(touches) as touches
            from {{ days }}
            group by {{ keys | join(', ') }}
        ) as summed
    ) as followed
    group by profile_key, channel, origin, {{ 'ad_key,' if ad }} day, prev, is_mixed
{%- endmacro %}

{# People and touches by day and day before, once for each scope: everything, one channel, one origin, one channel and
   origin; `all` stands where a scope does not ask. Scopes overlap, so figures of different scopes are never added.
   With `of_ads` every scope is cut by ad as well. Who was met in one channel and one origin only has the same day before
   in every scope, so that only the others, whom `is_mixed` marks, are followed scope by scope. #}
{% macro people_cells(of_ads) -%}
{%- set ad = ['ad_key'] if of_ads else [] -%}
{%- set person = ['person_key'] + ad -%}
with mixed as (
    select {{ person | join(', ') }}
    from {{ ref('int_ad_days') }}
    group by {{ person | join(', ') }}
    having min(channel) < max(channel) or min(origin) < max(origin)
),

days as (
    select days.*, mixed.person_key is not null as is_mixed
    from {{ ref('int_ad_days') }} as days
    left join mixed on {% for key in person %}{{ ' and ' if not loop.first }}days.{{ key }} = mixed.{{ key }}{% endfor %}
),

mixed_days as (
    select * from days
    where is_mixed
),

narrowest as (
    {{ scope_cells('days', ['channel', 'origin'], ad) }}
),

stacked as (
    select * from narrowest
    {%- for scope in [[], ['channel'], ['origin']] %}
    union all
    select
        profile_key,
        {{ 'channel' if 'channel' in scope else "'all' as channel" }},
        {{ 'origin' if 'origin' in scope else "'all' as origin" }},
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
    channel,
    origin,
    {{ 'ad_key,' if of_ads }}
    day,
    prev,
    cast(sum(people) as int) as people,
    cast(sum(touches) as int) as touches
from stacked
group by profile_key, channel, origin, {{ 'ad_key,' if of_ads }} day, prev
{%- endmacro %}
