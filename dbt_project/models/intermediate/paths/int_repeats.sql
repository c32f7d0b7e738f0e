{{ by_person('int_changed_people') }}

{% set break_s = var('visit_break_s') %}

-- Only what ranking needs: a visit that names no ad and no click is never a repeat.
with {{ 'seen' if keeps_own_rows() else 'arrivals' }} as (
    select
        person_key,
        record_no,
        repeat_key,
        ts,
        channel_no,
        click_id,
        -- A conversation that an ad opened is no page of a visit: it neither repeats the ad nor is repeated.
        case when not {{ is_opened_conversation('origin_no') }} then {{ named_ad() }} end as named_ad,
        session_id
    from {{ changed_rows('int_arrivals', 'int_changed_people', since=none) }}
    where repeat_key is not null
),

{% if keeps_own_rows() -%}
-- Of what came before, an arrival can only repeat what is less than a break older, of its session, or of its click.
recent as (
    select seen.* from seen
    {{ only_changed('int_changed_people', 'seen.person_key', 'seen.ts + ' ~ break_s) }}
),

visits as (
    select * from recent
    union
    select seen.*
    from seen
    inner join recent on seen.person_key = recent.person_key and seen.session_id = recent.session_id
),

arrivals as (
    select * from visits
    union
    select seen.*
    from seen
    inner join visits on seen.person_key = visits.person_key and seen.click_id = visits.click_id
),

{% endif -%}
clicks as (
    select person_key, record_no, ts, row_number() over click as sight
    from arrivals
    where click_id is not null
    window click as (partition by person_key, click_id order by ts, repeat_key)
),

-- A reload with the click id of its visit is a page like another: it keeps the visit going.
pages as (
    select
        person_key,
        record_no,
        ts,
        session_id,
        lag(ts) over page as page_before_ts,
        lag(session_id) over page as page_before_session
    from arrivals
    where named_ad is not null
    window page as (partition by person_key, named_ad, channel_no order by ts, repeat_key)
),

-- Apart from those, for there is nothing to number where a source tells no sessions.
sessions as (
    select person_key, record_no, ts, row_number() over visit as page
    from arrivals
    where named_ad is not null and session_id is not null
    window visit as (partition by person_key, named_ad, channel_no, session_id order by ts, repeat_key)
),

repeats as (
    select person_key, record_no, ts
    from clicks
    where sight > 1
    union
    select person_key, record_no, ts
    from pages
    where (session_id is null or page_before_session is null) and ts - page_before_ts < {{ break_s }}
    union
    select person_key, record_no, ts
    from sessions
    where page > 1
)

select repeats.*
from repeats
{{ only_changed('int_changed_people', 'repeats.person_key', 'repeats.ts') }}
