{{ config(materialized='view') }}

with weighed as (
    select
        standings.window_key,
        standings.ad_key,
        standings.profile_key,
        standings.group_key,
        round(
            0
            {%- for layer in score_layers() %}
                {%- set weight = 'objectives.' ~ layer.name ~ '_weight' %}
                + case when standings.{{ layer.name }}_percentile is null then 0 else {{ weight }} end
            {%- endfor %}, 12
        ) as coverage,
        {% for figure in ['percentile', 'reliability'] -%}
            {% for layer in score_layers() %}
                {%- set weight = 'objectives.' ~ layer.name ~ '_weight' %}
                {{ '+ ' if not loop.first }}coalesce({{ weight }} * standings.{{ layer.name }}_{{ figure }}, 0)
            {%- endfor %} as weighted_{{ figure }},
            case objectives.primary_layer_no
                {%- for layer in score_layers() %}
                    when {{ loop.index }} then standings.{{ layer.name }}_{{ figure }}
                {%- endfor %}
            end as primary_{{ figure }},
        {% endfor -%}
        standings.engagement_percentile
    from {{ ref('int_score_standings') }} as standings
    inner join {{ ref('int_score_groups') }} as groups on standings.group_key = groups.group_key
    inner join {{ ref('int_score_objectives') }} as objectives on groups.objective = objectives.objective
)

select
    window_key,
    ad_key,
    profile_key,
    group_key,
    weighted_percentile / nullif(coverage, 0) as composite_score,
    weighted_reliability / nullif(coverage, 0) as reliability,
    nullif(coverage, 0) as coverage,
    primary_percentile,
    primary_reliability,
    engagement_percentile
from weighed
