{# Positions of the touches that a build keeps of int_touches: those of people in int_changed_paths before the second from
   which they are numbered anew. Everything here is empty in a build that keeps none. #}
{# CTEs: `older`, how many each person has, and by parent where its last one stands. #}
{% macro older_positions() -%}
    {%- if keeps_own_rows() -%}
kept as (
    select
        kept.person_key,
        kept.destination_key,
        kept.pos_l
    from {{ this }} as kept
    inner join {{ ref('int_changed_paths') }} as changed
        on kept.person_key = changed.person_key and kept.ts < changed.ts
),

older as (
    select person_key, max(pos_l) as n
    from kept
    group by person_key
),

        {%- for parent in ['ad_set_key', 'campaign_key'] %}
older_{{ parent }} as (
    select
        kept.person_key,
        coalesce(destinations.{{ parent }}, 0) as parent_key,
        max(kept.pos_l) as pos_l
    from kept
    inner join {{ ref('int_destinations') }} as destinations on kept.destination_key = destinations.destination_key
    group by kept.person_key, coalesce(destinations.{{ parent }}, 0)
),

        {%- endfor %}
    {%- endif -%}
{%- endmacro %}

{# Where the person's touch before stands that has the same parent, 0 when there is none. #}
{% macro position_before(parent) -%}
    coalesce(
        lag(numbered.pos_l) over (partition by numbered.person_key, numbered.{{ parent }} order by numbered.pos_l),
        {{ 'older_' ~ parent ~ '.pos_l,' if keeps_own_rows() }}
        0
    )
{%- endmacro %}

{% macro join_older_positions() -%}
    {%- if keeps_own_rows() %}
        {%- for parent in ['ad_set_key', 'campaign_key'] %}
    left join older_{{ parent }}
        on
            numbered.person_key = older_{{ parent }}.person_key
            and coalesce(numbered.{{ parent }}, 0) = older_{{ parent }}.parent_key
        {%- endfor %}
    {%- endif %}
{%- endmacro %}
