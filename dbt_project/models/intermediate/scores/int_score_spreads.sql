with expected as (
    select
        evidence.cell_key,
        priors.root_cell_key,
        evidence.events * priors.scale as k,
        evidence.exposure * priors.mean as x,
        {{ reliability('(evidence.exposure * priors.mean)', 'roots.default_strength') }} as reliability
    from {{ ref('int_score_evidence') }} as evidence
    inner join {{ ref('int_score_priors') }} as priors on evidence.cell_key = priors.cell_key
    inner join {{ ref('int_score_roots') }} as roots on priors.root_cell_key = roots.root_cell_key
    where evidence.exposure > 0
),

cohorts as (
    select cell_key, cast({{ exact_sum('reliability') }} as double) as reliability
    from expected
    group by cell_key
),

weighed as (
    select
        expected.root_cell_key,
        expected.k,
        expected.x,
        expected.reliability * {{ reliability('expected.x', 'constants.tempering_events') }} as w,
        expected.reliability / (constants.pseudo_ads + cohorts.reliability) as h
    from expected
    inner join cohorts on expected.cell_key = cohorts.cell_key
    cross join {{ ref('int_score_constants') }} as constants
),

moments as (
    select
        root_cell_key,
        cast({{ exact_sum('w') }} as double) as weight,
        {{ moment_sums('w', 'k', 'x', 'h') }}
    from weighed
    group by root_cell_key
)

select
    moments.root_cell_key,
    {{ moderated_cv2(
        'least(greatest(' ~ moment_cv2('moments.seen', 'moments.by_chance', 'moments.freedom')
        ~ ', constants.least_cv2), constants.greatest_cv2)',
        'moments.weight', 'roots.default_cv2', 'constants.default_ads'
    ) }} as cv2
from moments
inner join {{ ref('int_score_roots') }} as roots on moments.root_cell_key = roots.root_cell_key
cross join {{ ref('int_score_constants') }} as constants
