with sums as (
    select
        root_key
        {%- for layer in score_layers() %},
            cast(sum({{ layer.name }}_events) as double) as {{ layer.name }}_events,
            cast(sum(cast({{ layer.name }}_exposure as decimal(28, 8))) as double) as {{ layer.name }}_exposure,
            count({{ layer.name }}_exposure) as {{ layer.name }}_ads
        {%- endfor %}
    from {{ ref('int_score_evidence') }}
    group by root_key
),

rates as (
    select
        sums.root_key
        {%- for layer in score_layers() %},
            case
                when
                    sums.{{ layer.name }}_events >= constants.least_layer_events
                    and sums.{{ layer.name }}_ads >= constants.least_layer_ads
                    and sums.{{ layer.name }}_exposure > 0
                    then sums.{{ layer.name }}_events / sums.{{ layer.name }}_exposure
            end as {{ layer.name }}_mean
        {%- endfor %}
    from sums
    cross join {{ ref('int_score_constants') }} as constants
),

objectives as (
    select distinct groups.root_key, objectives.*
    from {{ ref('int_score_groups') }} as groups
    inner join {{ ref('int_score_objectives') }} as objectives on groups.objective = objectives.objective
)

select
    rates.root_key
    {%- for layer in score_layers() %},
        rates.{{ layer.name }}_mean,
        case
            when objectives.{{ layer.name }}_is_binomial
                then 1 / (1 - least(rates.{{ layer.name }}_mean, constants.greatest_binomial_rate))
            else 1
        end as {{ layer.name }}_scale,
        objectives.{{ layer.name }}_cv2,
        1 / objectives.{{ layer.name }}_cv2 as {{ layer.name }}_strength
    {%- endfor %}
from rates
inner join objectives on rates.root_key = objectives.root_key
cross join {{ ref('int_score_constants') }} as constants
