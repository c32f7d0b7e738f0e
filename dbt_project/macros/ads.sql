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

{# People and touches by day and day before, once for each scope: everything, one channel, one origin, one channel and
   origin; `all` stands where a scope does not ask. Scopes overlap, so figures of different scopes are never added.
   With `of_ads` every scope is cut by ad as well. #}
{% macro people_cells(of_ads) -%}
    {%- set memory = var('people_memory_days') -%}
    {%- set ad = ['ad_key'] if of_ads else [] -%}
    {%- for scope in [[], ['channel'], ['origin'], ['channel', 'origin']] %}
        select
            profile_key,
            channel,
            origin,
            {{ 'ad_key,' if of_ads }}
            day,
            prev,
            cast(count(*) as int) as people,
            cast(sum(touches) as int) as touches
        from (
            select
                profile_key,
                channel,
                origin,
                {{ 'ad_key,' if of_ads }}
                day,
                touches,
                case
                    when before_day is null then {{ no_day() }}
                    else greatest(before_day, day - {{ memory }})
                end as prev
            from (
                select
                    *,
                    lag(day) over (
                        partition by {{ (['person_key'] + scope + ad) | join(', ') }} order by day
                    ) as before_day
                from (
                    select
                        profile_key,
                        person_key,
                        {{ "channel" if "channel" in scope else "'all' as channel" }},
                        {{ "origin" if "origin" in scope else "'all' as origin" }},
                        {{ 'ad_key,' if of_ads }}
                        day,
                        sum(touches) as touches
                    from {{ ref('int_ad_days') }}
                    group by {{ (['profile_key', 'person_key', 'day'] + scope + ad) | join(', ') }}
                ) as days
            ) as followed
        ) as cells
        group by profile_key, channel, origin, {{ 'ad_key,' if of_ads }} day, prev
        {{ 'union all' if not loop.last }}
    {%- endfor %}
{%- endmacro %}
