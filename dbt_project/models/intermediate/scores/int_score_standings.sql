with expected as (
    select
        evidence.window_key,
        evidence.ad_key,
        evidence.profile_key,
        evidence.group_key,
        evidence.relative_value as v,
        evidence.valued_orders as n,
        constants.tempering_events,
        constants.order_mean_cv2,
        constants.order_cv2 / constants.order_mean_cv2 as kv
        {%- for layer in score_layers() %},
            spreads.{{ layer.name }}_cv2,
            1 / spreads.{{ layer.name }}_cv2 as {{ layer.name }}_a,
            evidence.{{ layer.name }}_events * priors.{{ layer.name }}_scale as {{ layer.name }}_k,
            evidence.{{ layer.name }}_exposure * priors.{{ layer.name }}_mean as {{ layer.name }}_x
        {%- endfor %}
    from {{ ref('int_score_evidence') }} as evidence
    inner join {{ ref('int_score_priors') }} as priors on evidence.group_key = priors.group_key
    inner join {{ ref('int_score_spreads') }} as spreads on priors.root_key = spreads.root_key
    cross join {{ ref('int_score_constants') }} as constants
),

tempered as (
    select
        *
        {%- for layer in score_layers() %}
            {%- set g = reliability(layer.name ~ '_x', 'tempering_events') %},
            {{ g }} as {{ layer.name }}_g,
            {{ layer.name }}_k * {{ g }} as {{ layer.name }}_kg
        {%- endfor %}
    from expected
),

compared as (
    select
        *
        {%- for layer in score_layers() %}
            {%- set a, g, kg = layer.name ~ '_a', layer.name ~ '_g', layer.name ~ '_kg' %}
            {%- set rate = relative_rate(a, kg, layer.name ~ '_x * ' ~ g) %},
            {%- if layer.v %}
                {{ rate }} * (kv + {{ g }} * v) / (kv + {{ g }} * n) as {{ layer.name }}_r,
                1 / ({{ layer.name }}_cv2 + order_mean_cv2) as {{ layer.name }}_s0,
                1 / (
                    1 / ({{ a }} + {{ kg }}) + order_mean_cv2 * (1 - {{ g }} * n / ({{ g }} * n + kv))
                ) as {{ layer.name }}_s1
            {%- else %}
                {{ rate }} as {{ layer.name }}_r,
                {{ a }} as {{ layer.name }}_s0,
                {{ a }} + {{ kg }} as {{ layer.name }}_s1
            {%- endif %}
        {%- endfor %}
    from tempered
),

scored as (
    select
        *
        {%- for layer in score_layers() %},
            {{ cube_root_score(layer.name ~ '_r', layer.name ~ '_s0', layer.name ~ '_s1') }} as {{ layer.name }}_z
        {%- endfor %}
    from compared
),

tails as (
    select
        *
        {%- for layer in score_layers() %},
            {{ normal_tail('abs(' ~ layer.name ~ '_z)') }} as {{ layer.name }}_tail
        {%- endfor %}
    from scored
)

select
    window_key,
    ad_key,
    profile_key,
    group_key
    {%- for layer in score_layers() %},
        {{ reliability(layer.name ~ '_x', layer.name ~ '_a') }} as {{ layer.name }}_reliability,
        100 * case
            when {{ layer.name }}_z < 0 then {{ layer.name }}_tail else 1 - {{ layer.name }}_tail
        end as {{ layer.name }}_percentile
    {%- endfor %}
from tails
-- the order in which scores are published: to sort these rows costs less than to sort their layers' there
order by window_key, ad_key
