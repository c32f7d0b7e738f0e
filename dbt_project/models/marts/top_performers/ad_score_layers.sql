{% set is_reason -%}
    percentiles.weight > 0 and abs(percentiles.percentile - 50) >= constants.reason_distance
{%- endset %}

with ranked as (
    select
        percentiles.*,
        row_number() over (
            partition by percentiles.window_key, percentiles.ad_key
            order by percentiles.weight * abs(percentiles.percentile - 50) desc, percentiles.layer_no asc
        ) as turn
    from {{ ref('int_score_percentiles') }} as percentiles
    cross join {{ ref('int_score_constants') }} as constants
    where {{ is_reason }}
    union all
    select percentiles.*, cast(null as bigint) as turn
    from {{ ref('int_score_percentiles') }} as percentiles
    cross join {{ ref('int_score_constants') }} as constants
    where not ({{ is_reason }})
)

select
    windows.profile_key,
    cast(windows.score_window as {{ dbt.type_string() }}) as score_window,
    ranked.ad_key as entity_key,
    cast(names.layer as {{ dbt.type_string() }}) as layer,
    ranked.weight,
    ranked.percentile,
    ranked.reliability,
    cast(case when ranked.turn <= constants.reasons then ranked.turn end as int) as reason_rank,
    cast(
        case
            when ranked.turn > constants.reasons or ranked.turn is null then null
            when ranked.percentile > 50 then 'strength'
            else 'weakness'
        end as {{ dbt.type_string() }}
    ) as polarity,
    cast(
        case
            when ranked.reliability < constants.low_confidence then 'low'
            when ranked.reliability < constants.medium_confidence then 'medium'
            else 'high'
        end as {{ dbt.type_string() }}
    ) as sample_confidence
from ranked
inner join {{ ref('int_score_windows') }} as windows
    on ranked.window_key = windows.window_key and windows.is_current
inner join {{ ref('int_score_weights') }} as names on ranked.layer_no = names.layer_no and names.objective = 'unknown'
cross join {{ ref('int_score_constants') }} as constants
