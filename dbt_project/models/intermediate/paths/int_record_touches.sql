{{ kept_by(['person_key'], 'int_changed_people', told=['person_key', 'record_no', 'ts', 'touch_key']) }}

{% set break_s = var('visit_break_s') %}

with sights as (
    select
        visits.profile_key,
        visits.person_key,
        labels.touch_key,
        visits.ts,
        visits.click_id,
        coalesce({{ named_ad('visits.') }}, labels.utm_text) as parameters,
        0 as doubt
    from {{ changed_rows('int_visits', 'int_changed_people', since=none) }} as visits
    inner join {{ ref('int_touch_labels') }} as labels on visits.record_no = labels.record_no
    -- nobody else's visits are compared with a record
    where visits.person_key in (select records.person_key from {{ ref('int_own_parameters') }} as records)

    union all

    select
        profile_key,
        person_key,
        touch_key,
        ts,
        click_id,
        coalesce(named_ad, utm_text, 'platform:' || ad_platform) as parameters,
        case when is_undated then 2 else 1 end as doubt
    from {{ changed_rows('int_own_parameters', 'int_changed_people', since=none) }}
),

compared as (
    select
        *,
        row_number() over (partition by person_key, click_id order by doubt, ts, touch_key) as click_sight,
        row_number() over (partition by person_key, parameters order by ts, doubt, touch_key) as parameter_sight
    from sights
),

-- Undated parameters count once for the person, at the first sight of them anywhere; a click counts once too.
dated as (
    select *
    from compared
    where
        doubt = 0
        or (click_id is not null and click_sight = 1)
        or (click_id is null and (doubt = 1 or parameter_sight = 1))
),

neighboured as (
    select
        *,
        lag(ts) over (partition by person_key, parameters order by ts, doubt, touch_key) as before_ts,
        min(case when doubt = 0 then ts end) over (
            partition by person_key, parameters
            order by ts, doubt, touch_key
            rows between 1 following and unbounded following
        ) as next_visit_ts
    from dated
)

select
    records.profile_key,
    records.person_key,
    records.record_no,
    records.touch_key,
    records.ts,
    records.ad_platform,
    records.ad_id,
    records.ad_set_id,
    records.campaign_id,
    records.is_paid,
    records.click_id_type
from {{ changed_rows('int_own_parameters', 'int_changed_people', since=none) }} as records
inner join neighboured
    on
        records.profile_key = neighboured.profile_key
        and records.touch_key = neighboured.touch_key
        and neighboured.doubt > 0
where
    neighboured.parameters is null
    or not (
        coalesce(neighboured.ts - neighboured.before_ts < {{ break_s }}, false)
        or coalesce(neighboured.next_visit_ts - neighboured.ts < {{ break_s }}, false)
    )
