{{ by_person('int_changed_customers', since=none) }}

with converted as (
    select profile_key, person_key, conversion_key, ts
    from {{ changed_rows('int_conversions', 'int_changed_customers', since=none) }}
    where person_key is not null and not is_shared
),

people as (
    select distinct person_key from converted
),

-- Who clicks on a device that several people share is nobody's to tell.
sights as (
    select keys.person_key, touches.occurred_s, touches.click_id
    from {{ ref('stg_app__touches') }} as touches
    inner join {{ ref('int_profiles') }} as profiles on touches.profile_id = profiles.profile_id
    inner join {{ changed_rows('int_identity_keys', 'int_changed_customers', since=none) }} as keys
        on profiles.profile_key = keys.profile_key and touches.identity_key = keys.identity_key
    inner join people on keys.person_key = people.person_key
    where touches.click_id_type = 'fbclid' and touches.click_id not like 'erased-%' and not keys.is_shared
    union all
    select own.person_key, own.ts as occurred_s, own.click_id
    from {{ changed_rows('int_own_parameters', 'int_changed_customers', since=none) }} as own
    inner join people on own.person_key = people.person_key
    where own.click_id_type = 'fbclid' and own.click_id not like 'erased-%' and not own.is_shared
),

-- A click was when it was first seen: a stored id that comes again with every order is none the newer for it.
clicks as (
    select person_key, click_id, min(occurred_s) as clicked_s
    from sights
    group by person_key, click_id
),

-- Of two clicks in one second the one that sorts last.
told as (
    select person_key, clicked_s, max(click_id) as fbclid
    from clicks
    group by person_key, clicked_s
),

-- One pass in the order of time, since the pairs of somebody who clicks and buys all day are too many.
timeline as (
    select profile_key, person_key, conversion_key, ts, cast(null as bigint) as clicked_s from converted
    union all
    select null as profile_key, person_key, null as conversion_key, clicked_s as ts, clicked_s from told
),

placed as (
    select
        profile_key,
        person_key,
        conversion_key,
        max(clicked_s) over (partition by person_key order by ts) as clicked_s
    from timeline
)

select
    placed.profile_key,
    placed.conversion_key,
    placed.person_key,
    told.fbclid,
    placed.clicked_s
from placed
inner join told on placed.person_key = told.person_key and placed.clicked_s = told.clicked_s
where placed.conversion_key is not null
order by placed.profile_key, placed.conversion_key
