select
    {{ cell('groups.group_key', 'weights.layer_no') }} as cell_key,
    {{ cell('groups.root_key', 'weights.layer_no') }} as root_cell_key,
    {{ cell('groups.format_key', 'weights.layer_no') }} as format_cell_key,
    {{ cell('groups.warmth_key', 'weights.layer_no') }} as warmth_cell_key,
    {{ cell('groups.geo_key', 'weights.layer_no') }} as geo_cell_key,
    groups.root_key,
    weights.layer,
    weights.layer_no,
    weights.is_binomial,
    weights.default_cv2,
    weights.weight,
    weights.is_primary
from {{ ref('int_score_groups') }} as groups
inner join {{ ref('int_score_weights') }} as weights on groups.objective = weights.objective
