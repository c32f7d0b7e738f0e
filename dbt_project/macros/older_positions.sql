{# Places of the touches of people in int_changed_paths among those before them, in int_touches: those that a build keeps,
   before the second from which they are numbered anew. A build that keeps none knows `parents` only. #}
{# CTEs: `parents`, a number for each ad set and campaign, in this statement alone, for windows over short numbers take less
   than over keys; `older`, how many touches each person has, and by parent where its last one stands. #}
{% macro older_positions() -%}
parents as (
    select
        destination_key
        {%- for parent in ['ad_set', 'campaign'] %},
        cast(dense_rank() over (
            order by case when {{ parent }}_key is null then 0 else {{ parent }}_key end
        ) as int) as {{ parent }}_no
        {%- endfor %}
    from {{ ref('int_destinations') }}
),

    {%- if keeps_own_rows() %}

-- by destination first: of most people these are few, however many touches they have
kept as (
    select
        kept.person_key,
        kept.destination_key,
        max(kept.pos_l) as pos_l
    from {{ this }} as kept
    inner join {{ ref('int_changed_paths') }} as changed
        on kept.person_key = changed.person_key and kept.ts < changed.ts
    group by kept.person_key, kept.destination_key
),

older as (
    select person_key, max(pos_l) as n
    from kept
    group by person_key
),
        {%- for parent in ['ad_set_no', 'campaign_no'] %}

older_{{ parent }} as (
    select
        kept.person_key,
        parents.{{ parent }} as parent_no,
        max(kept.pos_l) as pos_l
    from kept
    inner join parents on kept.destination_key = parents.destination_key
    group by kept.person_key, parents.{{ parent }}
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
        {%- for parent in ['ad_set_no', 'campaign_no'] %}
    left join older_{{ parent }}
        on
            numbered.person_key = older_{{ parent }}.person_key
            and numbered.{{ parent }} = older_{{ parent }}.parent_no
        {%- endfor %}
    {%- endif %}
{%- endmacro %}
