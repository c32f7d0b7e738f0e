with sightings as (
    select * from {{ ref('int_sightings') }}
),

destinations as (
    select * from {{ ref('int_destinations') }}
),

placed as (
    select
        sightings.person_key,
        sightings.profile_key,
        sightings.ts,
        sightings.touch_key,
        sightings.channel,
        sightings.origin,
        sightings.is_direct,
        destinations.destination_key,
        destinations.ad_set_key,
        destinations.campaign_key
    from sightings
    inner join destinations
        on
            sightings.profile_key = destinations.profile_key
            and sightings.place = destinations.place
),

-- Two orders, because at one second both the first and the last touch prefer a touch that is not direct.
numbered as (
    select
        *,
        cast(row_number() over (
            partition by person_key
            order by ts, case when is_direct then 0 else 1 end, touch_key
        ) as int) as pos_l,
        cast(row_number() over (
            partition by person_key
            order by ts, case when is_direct then 1 else 0 end, touch_key
        ) as int) as pos_f
    from placed
)

select
    person_key,
    profile_key,
    ts,
    touch_key,
    channel,
    origin,
    is_direct,
    destination_key,
    pos_l,
    pos_f,
    coalesce(lag(pos_l) over (partition by person_key, ad_set_key order by pos_l), 0) as prev_set,
    coalesce(lag(pos_l) over (partition by person_key, campaign_key order by pos_l), 0) as prev_camp
from numbered
order by person_key, pos_l
