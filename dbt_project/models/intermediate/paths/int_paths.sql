{% set cap = var('path_cap') %}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

touches as (
    select * from {{ ref('int_touches') }}
),

conversions as (
    select
        conversions.conversion_key,
        conversions.person_key,
        conversions.ts,
        conversions.ts - profiles.lookback_s as ts_from,
        profiles.ln2_over_hl
    from {{ ref('int_conversions') }} as conversions
    inner join profiles on conversions.profile_key = profiles.profile_key
    where
        conversions.path_conversion_key = conversions.conversion_key
        and conversions.person_key is not null
),

-- Touches of the window are neighbours in pos_l, so its last position and its size describe all of it.
windows as (
    select
        conversions.conversion_key,
        count(*) as window_n,
        max(touches.pos_l) as p_last,
        max(touches.ts) as newest_ts
    from conversions
    inner join touches
        on
            conversions.person_key = touches.person_key
            and conversions.ts >= touches.ts
            and conversions.ts_from <= touches.ts
    group by conversions.conversion_key
),

reaches as (
    select
        conversions.conversion_key,
        conversions.person_key,
        conversions.ln2_over_hl,
        windows.newest_ts,
        windows.p_last,
        cast(windows.p_last - least(windows.window_n, {{ cap }}) + 1 as int) as p_from,
        windows.window_n > {{ cap }} as is_capped
    from conversions
    inner join windows on conversions.conversion_key = windows.conversion_key
)

select
    reaches.conversion_key,
    reaches.person_key,
    reaches.ln2_over_hl,
    reaches.newest_ts,
    reaches.p_from,
    reaches.p_last,
    min(touches.pos_f) as p_first,
    coalesce(max(case when not touches.is_direct then touches.pos_l end), reaches.p_last) as p_lnd,
    cast(count(*) as int) as n,
    cast(sum({{ decay_units('touches.ts', 'reaches.newest_ts', 'reaches.ln2_over_hl') }}) as bigint) as s_dec,
    reaches.is_capped
from reaches
inner join touches
    on
        reaches.person_key = touches.person_key
        and reaches.p_from <= touches.pos_l
        and reaches.p_last >= touches.pos_l
group by
    reaches.conversion_key,
    reaches.person_key,
    reaches.ln2_over_hl,
    reaches.newest_ts,
    reaches.p_from,
    reaches.p_last,
    reaches.is_capped
order by reaches.person_key, reaches.conversion_key
