{# Cells of one scope: how many people, and touches of theirs, a day had whose day before is `prev`. What the scope does
   not ask for is told as 0. `days` has person_key, the keys of the cells, touches and is_mixed, each day once where the
   scope asks for all that int_ad_days tells apart. #}
{% macro scope_cells(days, scope, ad) -%}
    {%- set tells_all = (scope | length == 2) and ad -%}
    {%- set keys = ['profile_key', 'person_key'] + scope + ad + ['day', 'is_mixed'] -%}
    select
        profile_key,
        channel_no,
        origin_no,
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
                {{ 'cast(0 as smallint) as channel_no,' if 'channel_no' not in scope }}
                {{ 'cast(0 as smallint) as origin_no,' if 'origin_no' not in scope }}
                {{ 'touches' if tells_all else 'sum(touches) as touches' }}
            from {{ days }}
            {{ 'group by ' ~ (keys | join(', ')) if not tells_all }}
        ) as summed
    ) as followed
    where touches > 0
    group by profile_key, channel_no, origin_no, {{ 'ad_key,' if ad }} day, prev, is_mixed
{%- endmacro %}
