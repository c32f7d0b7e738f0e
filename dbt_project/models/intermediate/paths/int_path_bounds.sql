{% set cap = var('path_cap') %}

with profiles as (
    select * from {{ ref('int_profiles') }}
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
    {% for slice in person_slices() -%}
        select
            conversions.conversion_key,
            conversions.person_key,
            conversions.ln2_over_hl,
            count(*) as window_n,
            max(touches.ts) as newest_ts,
            max(touches.pos_l) as p_last,
            min(touches.pos_f) as p_first,
            max(case when not touches.is_direct then touches.pos_l end) as p_lnd
        from conversions
        inner join {{ ref('int_touches') }} as touches
            on
                conversions.person_key = touches.person_key
                and conversions.ts >= touches.ts
                and conversions.ts_from <= touches.ts
        {{ within(slice, 'conversions.person_key') }}
        group by conversions.conversion_key, conversions.person_key, conversions.ln2_over_hl
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

-- Of a capped window the first touch and the last that is not direct may have fallen out.
recounted as (
    select
        windows.conversion_key,
        min(touches.pos_f) as p_first,
        max(case when not touches.is_direct then touches.pos_l end) as p_lnd
    from windows
    inner join {{ ref('int_touches') }} as touches
        on
            windows.person_key = touches.person_key
            and windows.p_last - {{ cap }} < touches.pos_l
            and windows.p_last >= touches.pos_l
    where windows.window_n > {{ cap }}
    group by windows.conversion_key
)

select
    windows.conversion_key,
    windows.person_key,
    windows.ln2_over_hl,
    windows.newest_ts,
    cast(windows.p_last - least(windows.window_n, {{ cap }}) + 1 as int) as p_from,
    windows.p_last,
    coalesce(recounted.p_first, windows.p_first) as p_first,
    coalesce(
        case when windows.window_n > {{ cap }} then recounted.p_lnd else windows.p_lnd end, windows.p_last
    ) as p_lnd,
    cast(least(windows.window_n, {{ cap }}) as int) as n,
    windows.window_n > {{ cap }} as is_capped
from windows
left join recounted on windows.conversion_key = recounted.conversion_key
order by windows.person_key, windows.conversion_key
