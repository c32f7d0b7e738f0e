{{ by_person(since='day') }}

with earliest as (
    select person_key, min(ts) as ts
    from {{ changed_rows('int_ad_touches', since='day') }}
    {%- if keeps_own_rows() %}
    where person_key not in (
        select kept.person_key
        from {{ this }} as kept
        inner join {{ ref('int_changed_paths') }} as changed
            on kept.person_key = changed.person_key and kept.day < changed.day
    )
    {%- endif %}
    group by person_key
),

-- Keys, which are texts, are compared among the touches of that second only.
ranked as (
    select
        touches.*,
        row_number() over (partition by touches.person_key order by touches.touch_key) as place
    from {{ changed_rows('int_ad_touches', since='day') }} as touches
    inner join earliest on touches.person_key = earliest.person_key and touches.ts = earliest.ts
)

select profile_key, person_key, day, channel, origin, ad_key
from ranked
where place = 1
