with newest as (
    select config.*
    from {{ ref('score_config') }} as config
    inner join {{ ref('int_score_constants') }} as constants on config.config_version = constants.config_version
),

objectives as (
    select distinct objective
    from newest
    where objective is not null
    union all
    select 'unknown'
),

layers as (
    select
        layer,
        max(case when name = 'is_binomial' then value end) = 1 as is_binomial,
        max(case when name = 'default_cv' then value end) as default_cv
    from newest
    where layer is not null
    group by layer
),

weighed as (
    select
        objectives.objective,
        layers.layer,
        layers.is_binomial,
        layers.default_cv * layers.default_cv as default_cv2,
        coalesce(newest.value, 0) as weight
    from objectives
    cross join layers
    left join newest
        on objectives.objective = newest.objective and layers.layer = newest.layer and newest.name = 'weight'
)

select
    objective,
    layer,
    cast(
        case layer
            {% for layer in score_layers() -%}
                when '{{ layer.name }}' then {{ loop.index }}
            {% endfor -%}
        end as smallint
    ) as layer_no,
    is_binomial,
    default_cv2,
    weight,
    weight > 0 and row_number() over (partition by objective order by weight desc, layer asc) = 1 as is_primary
from weighed
