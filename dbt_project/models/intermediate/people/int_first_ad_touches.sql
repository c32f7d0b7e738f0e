with earliest as (
    select person_key, min(ts) as ts
    from {{ ref('int_ad_touches') }}
    group by person_key
),

-- Keys, which are texts, are compared among the touches of that second only.
ranked as (
    select
        touches.*,
        row_number() over (partition by touches.person_key order by touches.touch_key) as place
    from {{ ref('int_ad_touches') }} as touches
    inner join earliest on touches.person_key = earliest.person_key and touches.ts = earliest.ts
)

select profile_key, person_key, day, channel, origin, ad_key
from ranked
where place = 1
