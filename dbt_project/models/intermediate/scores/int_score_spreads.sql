with expected as (
    select
        evidence.ad_key,
        evidence.group_key,
        evidence.layer_no,
        priors.root_key,
        roots.default_cv2,
        cast(evidence.events as double) * priors.scale as k,
        cast(evidence.exposure as double) * priors.mean as x,
        {{ reliability('(cast(evidence.exposure as double) * priors.mean)', 'roots.default_strength') }} as reliability
    from {{ ref('int_score_evidence') }} as evidence
    inner join {{ ref('int_score_priors') }} as priors
        on evidence.group_key = priors.group_key and evidence.layer_no = priors.layer_no
    inner join {{ ref('int_score_roots') }} as roots
        on priors.root_key = roots.root_key and priors.layer_no = roots.layer_no
    where evidence.exposure > 0
),

cohorts as (
    select group_key, layer_no, cast({{ exact_sum('reliability') }} as double) as reliability
    from expected
    group by group_key, layer_no
),

weighed as (
    select
        expected.*,
        expected.reliability * {{ reliability('expected.x', 'constants.tempering_events') }} as w,
        expected.reliability / (constants.pseudo_ads + cohorts.reliability) as h
    from expected
    inner join cohorts on expected.group_key = cohorts.group_key and expected.layer_no = cohorts.layer_no
    cross join {{ ref('int_score_constants') }} as constants
),

moments as (
    select
        root_key,
        layer_no,
        default_cv2,
        cast({{ exact_sum('w') }} as double) as weight,
        {{ moment_sums('w', 'k', 'x', 'h') }}
    from weighed
    group by root_key, layer_no, default_cv2
)

select
    moments.root_key,
    moments.layer_no,
    {{ moderated_cv2(
        'least(greatest(' ~ moment_cv2('moments.seen', 'moments.by_chance', 'moments.freedom')
        ~ ', constants.least_cv2), constants.greatest_cv2)',
        'moments.weight', 'moments.default_cv2', 'constants.default_ads'
    ) }} as cv2
from moments
cross join {{ ref('int_score_constants') }} as constants
