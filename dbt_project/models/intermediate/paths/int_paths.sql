select
    bounds.conversion_key,
    bounds.person_key,
    bounds.ln2_over_hl,
    bounds.newest_ts,
    bounds.p_from,
    bounds.p_last,
    bounds.p_first,
    bounds.p_lnd,
    bounds.n,
    cast(sum(credits.w_dec) as bigint) as s_dec,
    bounds.is_capped
from {{ ref('int_path_bounds') }} as bounds
inner join {{ ref('int_credits') }} as credits on bounds.conversion_key = credits.conversion_key
group by
    bounds.conversion_key,
    bounds.person_key,
    bounds.ln2_over_hl,
    bounds.newest_ts,
    bounds.p_from,
    bounds.p_last,
    bounds.p_first,
    bounds.p_lnd,
    bounds.n,
    bounds.is_capped
