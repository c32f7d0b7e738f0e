{#- Empty where every row is made anew. -#}
{% set since = 'ts - ' ~ var('visit_break_s') %}
{% if keeps_rows() %}
select
    person_key,
    -- a visit takes the touch of a stored cookie that is so little older
    {{ since }} as ts,
    cast({{ timestamp_of(since) }} as date) - 1 as day
from {{ ref('int_changed_people') }}
{% else %}
select person_key, ts, cast({{ timestamp_of('ts') }} as date) as day
from {{ ref('int_changed_people') }}
where false
{% endif %}
