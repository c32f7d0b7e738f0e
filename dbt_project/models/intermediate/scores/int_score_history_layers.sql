{{ config(materialized='view') }}

select
    windows.profile_key,
    windows.as_of,
    percentiles.ad_key as entity_key,
    names.layer,
    percentiles.weight,
    percentiles.percentile,
    percentiles.reliability
from {{ ref('int_score_percentiles') }} as percentiles
inner join {{ ref('int_score_windows') }} as windows
    on percentiles.window_key = windows.window_key and windows.score_window = '28d'
inner join {{ ref('int_score_weights') }} as names
    on percentiles.layer_no = names.layer_no and names.objective = 'unknown'
