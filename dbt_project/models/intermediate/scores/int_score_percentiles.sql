with params as (
    select
        priors.cell_key,
        cells.layer_no,
        priors.scale,
        priors.mean,
        spreads.cv2,
        1 / spreads.cv2 as a,
        cells.weight,
        cells.is_primary,
        constants.tempering_events,
        constants.order_mean_cv2,
        constants.order_cv2 / constants.order_mean_cv2 as kv
    from {{ ref('int_score_priors') }} as priors
    inner join {{ ref('int_score_cells') }} as cells on priors.cell_key = cells.cell_key
    inner join {{ ref('int_score_spreads') }} as spreads on priors.root_cell_key = spreads.root_cell_key
    cross join {{ ref('int_score_constants') }} as constants
),

expected as (
    select
        evidence.window_key,
        evidence.ad_key,
        params.*,
        evidence.relative_value as v,
        evidence.events * params.scale as k,
        evidence.exposure * params.mean as x
    from {{ ref('int_score_evidence') }} as evidence
    inner join params on evidence.cell_key = params.cell_key
),

tempered as (
    select
        *,
        {{ reliability('x', 'tempering_events') }} as g,
        k * {{ reliability('x', 'tempering_events') }} as kg
    from expected
),

compared as (
    select
        *,
        {{ relative_rate('a', 'kg', 'x * g') }}
        * case when v is null then 1 else (kv + g * v) / (kv + kg) end as r,
        case when v is null then a else 1 / (cv2 + order_mean_cv2) end as s0,
        case
            when v is null then a + kg
            else 1 / (1 / (a + kg) + order_mean_cv2 * (1 - kg / (kg + kv)))
        end as s1
    from tempered
),

scored as (
    select
        *,
        {{ cube_root_score('r', 's0', 's1') }} as z
    from compared
)

select
    window_key,
    ad_key,
    layer_no,
    weight,
    is_primary,
    {{ reliability('x', 'a') }} as reliability,
    100 * case
        when z < 0 then {{ normal_tail('(-z)') }}
        else 1 - {{ normal_tail('z') }}
    end as percentile
from scored
