with compared as (
    select
        windows.profile_key,
        windows.score_window,
        percentiles.ad_key as entity_key,
        percentiles.layer_no,
        percentiles.weight,
        percentiles.percentile,
        percentiles.reliability,
        percentiles.weight > 0
        and abs(percentiles.percentile - 50) >= constants.reason_distance as is_reason,
        constants.reasons,
        case
            when percentiles.reliability < constants.low_confidence then 'low'
            when percentiles.reliability < constants.medium_confidence then 'medium'
            else 'high'
        end as sample_confidence
    from {{ ref('int_score_percentiles') }} as percentiles
    inner join {{ ref('int_score_windows') }} as windows
        on percentiles.window_key = windows.window_key and windows.is_current
    cross join {{ ref('int_score_constants') }} as constants
),

ranked as (
    select
        *,
        row_number() over (
            partition by profile_key, score_window, entity_key
            order by
                case when is_reason then weight * abs(percentile - 50) else -1 end desc,
                layer_no asc
        ) as turn
    from compared
)

select
    ranked.profile_key,
    cast(ranked.score_window as {{ dbt.type_string() }}) as score_window,
    ranked.entity_key,
    cast(names.layer as {{ dbt.type_string() }}) as layer,
    ranked.weight,
    ranked.percentile,
    ranked.reliability,
    cast(case when ranked.is_reason and ranked.turn <= ranked.reasons then ranked.turn end as int) as reason_rank,
    cast(
        case
            when ranked.is_reason and ranked.turn <= ranked.reasons
                then case when ranked.percentile > 50 then 'strength' else 'weakness' end
        end as {{ dbt.type_string() }}
    ) as polarity,
    cast(ranked.sample_confidence as {{ dbt.type_string() }}) as sample_confidence
from ranked
inner join {{ ref('int_score_weights') }} as names on ranked.layer_no = names.layer_no and names.objective = 'unknown'
