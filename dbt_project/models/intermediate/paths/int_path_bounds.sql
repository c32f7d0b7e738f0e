{{ by_conversion() }}

{% set cap = var('path_cap') %}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

-- Touches of the window are neighbours in pos_l and in pos_f, so its last position and its size describe all of it.
-- Each slice reads its own conversions: a list of all would be kept in memory, and read as a whole by every slice.
paths as (
    {% for slice in person_slices() -%}
        select
            conversions.conversion_key,
            conversions.person_key,
            profiles.ln2_over_hl,
            windows.newest_ts,
            cast(windows.p_last - least(windows.window_n, {{ cap }}) + 1 as int) as p_from,
            windows.p_last,
            windows.p_lnd,
            cast(least(windows.window_n, {{ cap }}) as int) as n,
            windows.window_n > {{ cap }} as is_capped
        from (
            select
                credited.conversion_key,
                count(*) as window_n,
                max(touches.ts) as newest_ts,
                max(touches.pos_l) as p_last,
                -- no nulls among what is compared: they cost as much as the comparison
                nullif(max(case when touches.is_direct then 0 else touches.pos_l end), 0) as p_lnd
            from {{ changed_conversions('int_conversions') }} as credited
            inner join profiles as settings on credited.profile_key = settings.profile_key
            inner join {{ ref('int_touches') }} as touches
                on
                    credited.path_conversion_key = credited.conversion_key
                    and credited.person_key = touches.person_key
                    and credited.ts >= touches.ts
                    and credited.ts - settings.lookback_s <= touches.ts
            {{ within(slice, 'credited.person_key') }}
            group by credited.conversion_key
        ) as windows
        inner join {{ changed_conversions('int_conversions') }} as conversions
            on windows.conversion_key = conversions.conversion_key
        inner join profiles on conversions.profile_key = profiles.profile_key
        {{ within(slice, 'conversions.person_key') }}
        {{ 'union all' if not loop.last }}
    {% endfor %}
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
