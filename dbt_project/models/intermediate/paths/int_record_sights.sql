{{ kept_by(['person_key'], 'int_changed_people') }}
{% set break_s = var('visit_break_s') %}
{% set in_turn = 'order by ts, doubt, is_coarser desc, touch_key' %}
{% set later = 'rows between 1 following and unbounded following' %}

with followed as (
    select
        *,
        min(case when doubt = 0 and click_id is not null then ts end) over (
            partition by person_key, click_id {{ in_turn }} {{ later }}) as next_click_ts,
        min(case when doubt = 0 and parameters is not null and not is_conversation then ts end) over (
            partition by person_key, parameters {{ in_turn }} {{ later }}) as next_page_ts
    from {{ changed_rows('int_told_names', 'int_changed_people', since=none) }}
),

-- What a record tells beside its finest name goes wherever that goes.
attended as (
    select
        *,
        min(case when not is_coarser then least(next_click_ts, next_page_ts) end) over (
            partition by record_no) as next_ts
    from followed
),

-- A stored cookie is often a second older than the visit that it came with, which tells more.
compared as (
    select
        *,
        row_number() over (partition by person_key, click_id {{ in_turn }}) as click_sight,
        row_number() over (partition by person_key, parameters {{ in_turn }}) as parameter_sight
    from attended
    where doubt <> 1 or coalesce(next_ts - ts >= {{ break_s }}, true)
),

sighted as (
    select
        *,
        max(case when click_id is not null then click_sight end) over (partition by record_no) as own_click_sight,
        max(case when not is_coarser then parameter_sight end) over (partition by record_no) as own_parameter_sight
    from compared
),

-- Undated parameters count once for the person, at the first sight of them anywhere, also beside a finer name; a click
-- counts once too.
dated as (
    select
        *,
        lag(ts) over (partition by person_key, parameters {{ in_turn }}) as before_ts
    from sighted
    where
        doubt = 0
        or own_click_sight = 1
        or (own_click_sight is null and (doubt = 1 or own_parameter_sight = 1))
),

-- Only a record that is a touch has pages: one that belongs to a visit leaves the next visit as it is.
neighboured as (
    select
        *,
        lag(ts) over (partition by person_key, is_conversation, parameters {{ in_turn }}) as page_before_ts,
        lag(doubt) over (partition by person_key, is_conversation, parameters {{ in_turn }}) as page_before_doubt
    from dated
    where not is_coarser and (doubt = 0 or parameters is null or coalesce(ts - before_ts >= {{ break_s }}, true))
)

select
    person_key,
    record_no,
    doubt > 0 as is_touch
from neighboured
where
    doubt > 0
    or (click_id is not null and click_sight > 1)
    or (parameters is not null and page_before_doubt > 0 and ts - page_before_ts < {{ break_s }})
