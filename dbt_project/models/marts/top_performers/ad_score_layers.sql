{# read once, by the publication, which writes it: a second copy of so many numbers costs more than making them #}
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

-- of layers that moved the score as much, the first in the funnel comes first
ranked as (
    select
        *
        {%- for name in names %},
            case when {{ name }}_moved > 0 then 1
                {%- for other in names if other != name %}
                    {%- set before = '>=' if names.index(other) < names.index(name) else '>' %}
                    + cast({{ other }}_moved {{ before }} {{ name }}_moved as int)
                {%- endfor %}
            end as {{ name }}_turn
        {%- endfor %}
    from moved
)

select
    profile_key,
    cast(score_window as {{ dbt.type_string() }}) as score_window,
    ad_key as entity_key,
    low_confidence as confidence_low_below,
    medium_confidence as confidence_medium_below
    {%- for name in names %},
        {{ name }}_percentile,
        {{ name }}_reliability,
        case when {{ name }}_turn <= reasons then {{ name }}_turn end as {{ name }}_reason_rank
    {%- endfor %}
from ranked
