select
    traits.window_key,
    traits.ad_key,
    traits.profile_key,
    groups.group_key,
    groups.root_key
from {{ ref('int_score_traits') }} as traits
inner join {{ ref('int_score_groups') }} as groups
    on
        traits.window_key = groups.window_key
        and traits.channel = groups.channel
        and traits.format = groups.format
        and traits.objective = groups.objective
        and traits.warmth = groups.warmth
        and traits.geo = groups.geo
        and traits.placement = groups.placement
