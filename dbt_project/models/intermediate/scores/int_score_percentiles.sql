{{ config(materialized='view') }}

{% for layer in score_layers() -%}
    select
        standings.window_key,
        standings.ad_key,
        cast({{ loop.index }} as smallint) as layer_no,
        objectives.{{ layer.name }}_weight as weight,
        standings.{{ layer.name }}_reliability as reliability,
        standings.{{ layer.name }}_percentile as percentile
    from {{ ref('int_score_standings') }} as standings
    inner join {{ ref('int_score_groups') }} as groups on standings.group_key = groups.group_key
    inner join {{ ref('int_score_objectives') }} as objectives on groups.objective = objectives.objective
    where standings.{{ layer.name }}_percentile is not null
    {{ 'union all' if not loop.last }}
{% endfor %}
