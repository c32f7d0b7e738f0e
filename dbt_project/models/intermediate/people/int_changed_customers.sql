{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
with identifiers as (
    select profile_key, person_key, kind, value
    from {{ ref('int_person_identifiers') }}
),

known as (
    select distinct identifiers.person_key
    from identifiers
    inner join {{ changes_of('int_conversions') }} as conversions on identifiers.person_key = conversions.person_key
    where identifiers.kind <> 'anonymous_id' and not {{ is_made_up('identifiers.value') }}
),

found as (
    select person_key, ts from {{ ref('int_changed_paths') }}
    union all
    -- an outcome makes a customer of who has no name, or no longer does, and so of all of their days
    select conversions.person_key, case when known.person_key is null then 0 else conversions.ts end as ts
    from {{ changes_of('int_conversions') }} as conversions
    left join known on conversions.person_key = known.person_key
    union all
    select person_key, cast(0 as bigint) as ts from {{ ref('int_changed_names') }}
    union all
    select person_key, occurred_s as ts from {{ changes_of('int_consent_answers') }}
    union all
    select identifiers.person_key, days.first_ts as ts
    from {{ changes_of('int_page_days') }} as days
    inner join identifiers
        on
            days.profile_key = identifiers.profile_key
            and days.anonymous_id = identifiers.value
            and identifiers.kind = 'anonymous_id'
)

-- Local days may begin a day before those of UTC, and what lies on `day` is nowhere older than a day and a half.
select
    person_key,
    min(ts) - 3 * 86400 as ts,
    cast({{ timestamp_of('min(ts)') }} as date) - 1 as day
from found
where person_key is not null
group by person_key
{% else %}
select person_key, ts, day
from {{ ref('int_changed_paths') }}
where false
{% endif %}
