{{ config(materialized='view') }}

select
    objective,
    max(case when is_primary then layer_no end) as primary_layer_no
    {%- for layer in score_layers() %},
        max(case when layer_no = {{ loop.index }} then weight end) as {{ layer.name }}_weight,
        max(case when layer_no = {{ loop.index }} then default_cv2 end) as {{ layer.name }}_cv2,
        max(case when layer_no = {{ loop.index }} and is_binomial then 1 else 0 end) = 1 as {{ layer.name }}_is_binomial
    {%- endfor %}
from {{ ref('int_score_weights') }}
group by objective
