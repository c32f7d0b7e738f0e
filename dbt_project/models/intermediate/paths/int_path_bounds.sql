{{ by_conversion() }}

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
    from {{ changed_conversions('int_conversions') }} as conversions
    inner join profiles on conversions.profile_key = profiles.profile_key
    where
        conversions.path_conversion_key = conversions.conversion_key
        and conversions.person_key is not null
),

-- Touches of the window are neighbours in pos_l and in pos_f, so its last position and its size describe all of it.
windows as (
    {% for slice in person_slices() -%}
        select
            conversions.conversion_key,
            count(*) as window_n,
            max(touches.ts) as newest_ts,
            max(touches.pos_l) as p_last,
            -- no nulls among what is compared: they cost as much as the comparison
            nullif(max(case when touches.is_direct then 0 else touches.pos_l end), 0) as p_lnd
        from conversions
        inner join {{ ref('int_touches') }} as touches
            on
                conversions.person_key = touches.person_key
                and conversions.ts >= touches.ts
                and conversions.ts_from <= touches.ts
        {{ within(slice, 'conversions.person_key') }}
        group by conversions.conversion_key
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

paths as (
    select
        windows.conversion_key,
        conversions.person_key,
        conversions.ln2_over_hl,
        windows.newest_ts,
        cast(windows.p_last - least(windows.window_n, {{ cap }}) + 1 as int) as p_from,
        windows.p_last,
        windows.p_lnd,
        cast(least(windows.window_n, {{ cap }}) as int) as n,
        windows.window_n > {{ cap }} as is_capped
    from windows
    inner join conversions on windows.conversion_key = conversions.conversion_key
),

-- Of a capped window the first touch and the last that is not direct may have fallen out.
recounted as (
    select
        paths.conversion_key,
        min(touches.pos_f) as p_first,
        max(case when not touches.is_direct then touches.pos_l end) as p_lnd
    from paths
    inner join {{ ref('int_touches') }} as touches
        on
            paths.person_key = touches.person_key
            and paths.p_from <= touches.pos_l
            and paths.p_last >= touches.pos_l
    where paths.is_capped
    group by paths.conversion_key
)

select
    paths.conversion_key,
    paths.person_key,
    paths.ln2_over_hl,
    paths.newest_ts,
    paths.p_from,
    paths.p_last,
    coalesce(recounted.p_first, paths.p_from) as p_first,
    coalesce(case when paths.is_capped then recounted.p_lnd else paths.p_lnd end, paths.p_last) as p_lnd,
    paths.n,
    paths.is_capped
from paths
left join recounted on paths.conversion_key = recounted.conversion_key
order by paths.person_key, paths.conversion_key
