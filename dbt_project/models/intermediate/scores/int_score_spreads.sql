with expected as (
    select
        evidence.group_key,
        evidence.root_key
        {%- for layer in score_layers() %},
            evidence.{{ layer.name }}_events * priors.{{ layer.name }}_scale as {{ layer.name }}_k,
            case
                when evidence.{{ layer.name }}_exposure > 0
                    then evidence.{{ layer.name }}_exposure * priors.{{ layer.name }}_mean
            end as {{ layer.name }}_x,
            priors.{{ layer.name }}_strength
        {%- endfor %}
    from {{ ref('int_score_evidence') }} as evidence
    inner join {{ ref('int_score_priors') }} as priors on evidence.group_key = priors.group_key
),

cohorts as (
    select
        group_key
        {%- for layer in score_layers() %},
            {{ exact_sum_of_shares(reliability(layer.name ~ '_x', layer.name ~ '_strength')) }}
                as {{ layer.name }}_reliability
        {%- endfor %}
    from expected
    group by group_key
),

weighed as (
    select
        expected.*
        {%- for layer in score_layers() %}
            {%- set x = 'expected.' ~ layer.name ~ '_x' %}
            {%- set own = reliability(x, 'expected.' ~ layer.name ~ '_strength') %},
            {{ own }} * {{ reliability(x, 'constants.tempering_events') }} as {{ layer.name }}_w,
            {{ own }} / (constants.pseudo_ads + cohorts.{{ layer.name }}_reliability) as {{ layer.name }}_h
        {%- endfor %}
    from expected
    inner join cohorts on expected.group_key = cohorts.group_key
    cross join {{ ref('int_score_constants') }} as constants
),

moments as (
    select
        root_key
        {%- for layer in score_layers() %}
            {%- set of = layer.name ~ '_' %},
            {{ exact_sum_of_shares(of ~ 'w') }} as {{ of }}weight,
            {{ moment_sums(of ~ 'w', of ~ 'k', of ~ 'x', of ~ 'h', of) }}
        {%- endfor %}
    from weighed
    group by root_key
)

select
    moments.root_key
    {%- for layer in score_layers() %}
        {%- set of = 'moments.' ~ layer.name ~ '_' %},
        {{ moderated_cv2(
            'least(greatest(' ~ moment_cv2(of ~ 'seen', of ~ 'by_chance', of ~ 'freedom')
            ~ ', constants.least_cv2), constants.greatest_cv2)',
            of ~ 'weight', 'roots.' ~ layer.name ~ '_cv2', 'constants.default_ads'
        ) }} as {{ layer.name }}_cv2
    {%- endfor %}
from moments
inner join {{ ref('int_score_roots') }} as roots on moments.root_key = roots.root_key
cross join {{ ref('int_score_constants') }} as constants
