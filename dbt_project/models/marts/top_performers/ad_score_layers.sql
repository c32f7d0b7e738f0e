{# read once, by the publication, which writes it: a second copy of so many texts costs more than making them #}
{{ config(materialized='view') }}

{% set names = score_layers() | map(attribute='name') | list %}

with moved as (
    select
        windows.profile_key,
        windows.score_window,
        standings.ad_key,
        constants.reasons,
        constants.low_confidence,
        constants.medium_confidence
        {%- for name in names %},
            objectives.{{ name }}_weight,
            standings.{{ name }}_percentile,
            standings.{{ name }}_reliability,
            case
                when abs(standings.{{ name }}_percentile - 50) >= constants.reason_distance
                    then objectives.{{ name }}_weight * abs(standings.{{ name }}_percentile - 50)
                else 0
            end as {{ name }}_moved
        {%- endfor %}
    from {{ ref('int_score_standings') }} as standings
    inner join {{ ref('int_score_windows') }} as windows
        on standings.window_key = windows.window_key and windows.is_current
    inner join {{ ref('int_score_groups') }} as groups on standings.group_key = groups.group_key
    inner join {{ ref('int_score_objectives') }} as objectives on groups.objective = objectives.objective
    cross join {{ ref('int_score_constants') }} as constants
),

{% set columns = {'layer': [], 'weight': [], 'percentile': [], 'reliability': [], 'turn': []} -%}
{# by name, which is the order of the grain: publication then need not sort #}
{% for name in names | sort -%}
    {% set turn -%}
        case when {{ name }}_moved > 0 then 1
        {%- for other in names if other != name -%}
            {{ ' ' }}+ cast({{ other }}_moved {{ '>=' if loop.index0 < names.index(name) else '>' }} {{ name }}_moved as int)
        {%- endfor %} end
    {%- endset -%}
    {% do columns['layer'].append("'" ~ name ~ "'") -%}
    {% for figure in ['weight', 'percentile', 'reliability'] -%}
        {% do columns[figure].append(name ~ '_' ~ figure) -%}
    {% endfor -%}
    {% do columns['turn'].append(turn) -%}
{% endfor -%}
layers as (
    select
        profile_key,
        score_window,
        ad_key,
        reasons,
        low_confidence,
        medium_confidence,
        {{ rows_of_lists(columns) }}
    from moved
)

select
    profile_key,
    cast(score_window as {{ dbt.type_string() }}) as score_window,
    ad_key as entity_key,
    cast(layer as {{ dbt.type_string() }}) as layer,
    weight,
    percentile,
    reliability,
    cast(case when turn <= reasons then turn end as int) as reason_rank,
    cast(
        case
            when turn > reasons or turn is null then null
            when percentile > 50 then 'strength'
            else 'weakness'
        end as {{ dbt.type_string() }}
    ) as polarity,
    cast(
        case
            when reliability < low_confidence then 'low'
            when reliability < medium_confidence then 'medium'
            else 'high'
        end as {{ dbt.type_string() }}
    ) as sample_confidence
from layers
where percentile is not null
