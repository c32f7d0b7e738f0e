{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
select
    person_key,
    ts,
    cast({{ timestamp_of('ts') }} as date) - 1 as day
from {{ ref('int_changed_people') }}
{% else %}
select person_key, ts, cast({{ timestamp_of('ts') }} as date) as day
from {{ ref('int_changed_people') }}
where false
{% endif %}
