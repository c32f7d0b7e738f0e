{{ by_person('int_changed_people', since=none) }}

{% set break_s = var('visit_break_s') %}

-- Only what ranking needs: a visit that names no ad and no click is never a repeat.
with arrivals as (
    select person_key, record_no, touch_key, ts, click_id, named_ad, session_id
    from {{ changed_rows('int_arrivals', 'int_changed_people', since=none) }}
    where click_id is not null or named_ad is not null
),

clicks as (
    select
        person_key,
        record_no,
        row_number() over (partition by person_key, click_id order by ts, touch_key) as sight
    from arrivals
    where click_id is not null
),

clicked as (
    select person_key, record_no
    from clicks
    where sight > 1
),

pages as (
    select
        person_key,
        record_no,
        ts,
        session_id,
        lag(ts) over (partition by person_key, named_ad order by ts, touch_key) as page_before_ts,
        lag(session_id) over (partition by person_key, named_ad order by ts, touch_key) as page_before_session
    from arrivals
    where named_ad is not null and record_no not in (select clicked.record_no from clicked)
),

sessions as (
    select
        person_key,
        record_no,
        row_number() over (partition by person_key, named_ad, session_id order by ts, touch_key) as page
    from arrivals
    where named_ad is not null and session_id is not null and record_no not in (select clicked.record_no from clicked)
)

select person_key, record_no
from clicked
union
select person_key, record_no
from pages
where (session_id is null or page_before_session is null) and ts - page_before_ts < {{ break_s }}
union
select person_key, record_no
from sessions
where page > 1
