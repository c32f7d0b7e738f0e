{{ config(materialized='view') }}

{% set names = [
    'least_layer_events', 'least_layer_ads', 'greatest_binomial_rate', 'pseudo_ads', 'default_ads', 'least_cv2',
    'greatest_cv2', 'tempering_events', 'order_cv2', 'order_mean_cv2', 'order_cap_quantile', 'majority_share',
    'least_lag_conversions', 'cold_reliability', 'cold_days', 'early_reliability', 'early_days',
    'calibrated_reliability', 'calibrated_days', 'calibrated_outcomes', 'calibrated_coverage', 'clicks_per_outcome',
    'impressions_per_outcome', 'reason_distance', 'reasons', 'low_confidence', 'medium_confidence'
] %}

with newest as (
    select max(config_version) as config_version
    from {{ ref('score_config') }}
)

select
    cast(config.config_version as int) as config_version
    {%- for name in names %},
    max(case when config.name = '{{ name }}' then config.value end) as {{ name }}
    {%- endfor %}
from {{ ref('score_config') }} as config
inner join newest on config.config_version = newest.config_version
group by config.config_version
