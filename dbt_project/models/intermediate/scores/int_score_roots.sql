with sums as (
    select
        cell_key,
        sum(cast(events as decimal(28, 8))) as events,
        sum(cast(exposure as decimal(28, 8))) as exposure,
        count(*) as ads
    from {{ ref('int_score_evidence') }}
    group by cell_key
),

roots as (
    select
        cells.root_cell_key,
        cells.is_binomial,
        cells.default_cv2,
        cast(sum(sums.events) as double) as events,
        cast(sum(sums.exposure) as double) as exposure,
        sum(sums.ads) as ads
    from sums
    inner join {{ ref('int_score_cells') }} as cells on sums.cell_key = cells.cell_key
    group by cells.root_cell_key, cells.is_binomial, cells.default_cv2
)

select
    roots.root_cell_key,
    roots.events / roots.exposure as mean,
    case
        when roots.is_binomial
            then 1 / (1 - least(roots.events / roots.exposure, constants.greatest_binomial_rate))
        else 1
    end as scale,
    roots.default_cv2,
    1 / roots.default_cv2 as default_strength
from roots
cross join {{ ref('int_score_constants') }} as constants
where
    roots.events >= constants.least_layer_events
    and roots.ads >= constants.least_layer_ads
    and roots.exposure > 0
