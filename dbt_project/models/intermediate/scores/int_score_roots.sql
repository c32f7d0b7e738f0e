with sums as (
    select
        groups.root_key,
        evidence.layer_no,
        groups.objective,
        cast(sum(evidence.events) as double) as events,
        cast(sum(evidence.exposure) as double) as exposure,
        count(*) as ads
    from {{ ref('int_score_evidence') }} as evidence
    inner join {{ ref('int_score_groups') }} as groups on evidence.group_key = groups.group_key
    group by groups.root_key, evidence.layer_no, groups.objective
)

select
    sums.root_key,
    sums.layer_no,
    sums.objective,
    sums.events / sums.exposure as mean,
    case
        when weights.is_binomial
            then 1 / (1 - least(sums.events / sums.exposure, constants.greatest_binomial_rate))
        else 1
    end as scale,
    weights.default_cv2,
    1 / weights.default_cv2 as default_strength,
    weights.weight,
    weights.is_primary
from sums
inner join {{ ref('int_score_weights') }} as weights
    on sums.objective = weights.objective and sums.layer_no = weights.layer_no
cross join {{ ref('int_score_constants') }} as constants
where
    sums.events >= constants.least_layer_events
    and sums.ads >= constants.least_layer_ads
    and sums.exposure > 0
