{{ by_person() }}
{{ packed(runs=['person_key'], plain=['destination_key', 'is_direct', 'pos_l', 'pos_f', 'prev_set', 'prev_camp']) }}

with {{ older_positions() }}

placed as (
    select
        sightings.person_key,
        sightings.profile_key,
        sightings.ts,
        sightings.record_no,
        sightings.is_direct,
        destinations.destination_key
    from {{ changed_rows('int_sightings') }} as sightings
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
        labels.touch_key,
        min(timed.pos) over (partition by timed.person_key, timed.ts) - 1 as pos_before
    from timed
    inner join {{ ref('int_touch_labels') }} as labels on timed.record_no = labels.record_no
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
        parents.ad_set_no,
        parents.campaign_no,
        cast(coalesce(ranked.pos_l, timed.pos){{ ' + coalesce(older.n, 0)' if keeps_own_rows() }} as int) as pos_l,
        cast(coalesce(ranked.pos_f, timed.pos){{ ' + coalesce(older.n, 0)' if keeps_own_rows() }} as int) as pos_f
    from timed
    inner join parents on timed.destination_key = parents.destination_key
    left join ranked on timed.record_no = ranked.record_no
    {{ 'left join older on timed.person_key = older.person_key' if keeps_own_rows() }}
)

select
    numbered.person_key,
    numbered.profile_key,
    numbered.ts,
    numbered.record_no,
    numbered.is_direct,
    numbered.destination_key,
    numbered.pos_l,
    numbered.pos_f,
    {{ position_before('ad_set_no') }} as prev_set,
    {{ position_before('campaign_no') }} as prev_camp
from numbered
{{ join_older_positions() }}
order by numbered.person_key, numbered.pos_l
