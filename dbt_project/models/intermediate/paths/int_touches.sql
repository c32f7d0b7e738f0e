with placed as (
    select
        sightings.person_key,
        sightings.profile_key,
        sightings.ts,
        sightings.record_no,
        sightings.is_direct,
        destinations.destination_key,
        destinations.ad_set_key,
        destinations.campaign_key
    from {{ ref('int_sightings') }} as sightings
    inner join {{ ref('int_destinations') }} as destinations
        on
            sightings.profile_key = destinations.profile_key
            and sightings.place = destinations.place
),

timed as (
    select
        *,
        row_number() over (partition by person_key order by ts, record_no) as pos,
        lag(ts) over (partition by person_key order by ts, record_no) as ts_before,
        lead(ts) over (partition by person_key order by ts, record_no) as ts_after
    from placed
),

-- Keys, which are long texts, are compared only where two touches of a person share a second.
tied as (
    select
        timed.record_no,
        timed.person_key,
        timed.ts,
        timed.is_direct,
        sightings.touch_key,
        min(timed.pos) over (partition by timed.person_key, timed.ts) - 1 as pos_before
    from timed
    inner join {{ ref('int_sightings') }} as sightings on timed.record_no = sightings.record_no
    where timed.ts = timed.ts_before or timed.ts = timed.ts_after
),

-- Two orders, because at one second both the first and the last touch prefer a touch that is not direct.
ranked as (
    select
        record_no,
        pos_before + row_number() over (
            partition by person_key, ts
            order by case when is_direct then 0 else 1 end, touch_key
        ) as pos_l,
        pos_before + row_number() over (
            partition by person_key, ts
            order by case when is_direct then 1 else 0 end, touch_key
        ) as pos_f
    from tied
),

numbered as (
    select
        timed.person_key,
        timed.profile_key,
        timed.ts,
        timed.record_no,
        timed.is_direct,
        timed.destination_key,
        timed.ad_set_key,
        timed.campaign_key,
        cast(coalesce(ranked.pos_l, timed.pos) as int) as pos_l,
        cast(coalesce(ranked.pos_f, timed.pos) as int) as pos_f
    from timed
    left join ranked on timed.record_no = ranked.record_no
)

select
    person_key,
    profile_key,
    ts,
    record_no,
    is_direct,
    destination_key,
    pos_l,
    pos_f,
    coalesce(lag(pos_l) over (partition by person_key, ad_set_key order by pos_l), 0) as prev_set,
    coalesce(lag(pos_l) over (partition by person_key, campaign_key order by pos_l), 0) as prev_camp
from numbered
order by person_key, pos_l
