{{ kept_by(['person_key'], 'int_changed_people') }}
{% set break_s = var('visit_break_s') %}
{% set in_turn = 'order by ts, doubt, touch_key' %}
{% set later = 'rows between 1 following and unbounded following' %}

with sights as (
    select
        visits.profile_key,
        visits.person_key,
        visits.record_no,
        labels.touch_key,
        visits.ts,
        visits.click_id,
        coalesce({{ named_ad('visits.') }}, labels.utm_text) as parameters,
        {{ is_opened_conversation('visits.origin_no') }} as is_conversation,
        0 as doubt
    from {{ changed_rows('int_arrivals', 'int_changed_people', since=none) }} as visits
    inner join {{ ref('int_touch_labels') }} as labels on visits.record_no = labels.record_no
    where
        -- nobody else's visits are compared with a record
        visits.person_key in (select records.person_key from {{ ref('int_own_parameters') }} as records)
        and visits.record_no not in (select repeats.record_no from {{ ref('int_repeats') }} as repeats)

    union all

    select
        profile_key,
        person_key,
        record_no,
        touch_key,
        ts,
        click_id,
        coalesce(named_ad, utm_text, 'platform:' || ad_platform) as parameters,
        false as is_conversation,
        case when is_undated then 2 else 1 end as doubt
    from {{ changed_rows('int_own_parameters', 'int_changed_people', since=none) }}
),

followed as (
    select
        *,
        min(case when doubt = 0 and click_id is not null then ts end) over (
            partition by person_key, click_id {{ in_turn }} {{ later }}) as next_click_ts,
        min(case when doubt = 0 and parameters is not null and not is_conversation then ts end) over (
            partition by person_key, parameters {{ in_turn }} {{ later }}) as next_page_ts
    from sights
),

-- A stored cookie is often a second older than the visit that it came with, which tells more.
compared as (
    select
        *,
        row_number() over (partition by person_key, click_id {{ in_turn }}) as click_sight,
        row_number() over (partition by person_key, parameters {{ in_turn }}) as parameter_sight
    from followed
    where doubt <> 1 or coalesce(least(next_click_ts, next_page_ts) - ts >= {{ break_s }}, true)
),

-- Undated parameters count once for the person, at the first sight of them anywhere; a click counts once too.
dated as (
    select
        *,
        lag(ts) over (partition by person_key, parameters {{ in_turn }}) as before_ts
    from compared
    where
        doubt = 0
        or (click_id is not null and click_sight = 1)
        or (click_id is null and (doubt = 1 or parameter_sight = 1))
),

-- Only a record that is a touch has pages: one that belongs to a visit leaves the next visit as it is.
neighboured as (
    select
        *,
        lag(ts) over (partition by person_key, is_conversation, parameters {{ in_turn }}) as page_before_ts,
        lag(doubt) over (partition by person_key, is_conversation, parameters {{ in_turn }}) as page_before_doubt
    from dated
    where doubt = 0 or parameters is null or coalesce(ts - before_ts >= {{ break_s }}, true)
)

select
    profile_key,
    person_key,
    record_no,
    doubt > 0 as is_touch
from neighboured
where
    doubt > 0
    or (click_id is not null and click_sight > 1)
    or (parameters is not null and page_before_doubt > 0 and ts - page_before_ts < {{ break_s }})
