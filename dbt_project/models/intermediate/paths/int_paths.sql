{{ by_conversion() }}

with decays as (
    select
        conversion_key,
        cast(sum(w_dec) as bigint) as s_dec
    from {{ changed_conversions('int_credits') }}
    group by conversion_key
)

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
    decays.s_dec,
    bounds.is_capped
from {{ changed_conversions('int_path_bounds') }} as bounds
inner join decays on bounds.conversion_key = decays.conversion_key
