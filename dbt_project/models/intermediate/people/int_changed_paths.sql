{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
with found as (
    select person_key, ts from {{ ref('int_changed_people') }}
    union all
    -- a visit of today can undo the touch that an older order or outcome told of
    select person_key, ts from {{ changes_of('int_record_touches') }}
)

select
    person_key,
    min(ts) as ts,
    cast({{ timestamp_of('min(ts)') }} as date) - 1 as day
from found
group by person_key
{% else %}
select person_key, ts, cast({{ timestamp_of('ts') }} as date) as day
from {{ ref('int_changed_people') }}
where false
{% endif %}
