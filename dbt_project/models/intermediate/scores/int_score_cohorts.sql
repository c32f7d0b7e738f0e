select
    traits.window_key,
    traits.ad_key,
    groups.group_key,
    groups.root_key
from {{ ref('int_score_traits') }} as traits
inner join {{ ref('int_score_groups') }} as groups
    on
        traits.window_key = groups.window_key
        and traits.channel_no = groups.channel_no
        and traits.objective_no = groups.objective_no
        and traits.format_no = groups.format_no
        and traits.warmth_no = groups.warmth_no
        and traits.geo_no = groups.geo_no
        and traits.placement_no = groups.placement_no
