{{ by_conversion() }}

select
    conversions.profile_key,
    paths.conversion_key,
    paths.person_key,
    paths.p_from,
    paths.p_last,
    paths.p_first,
    paths.p_lnd,
    paths.n,
    paths.newest_ts,
    paths.ln2_over_hl,
    paths.s_dec,
    paths.is_capped
from {{ changed_conversions('int_paths') }} as paths
inner join {{ ref('int_conversions') }} as conversions on paths.conversion_key = conversions.conversion_key
