{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
with changed as (
    select conversions.conversion_key
    from {{ ref('int_conversions') }} as conversions
    inner join {{ ref('int_changed_paths') }} as people
        on conversions.person_key = people.person_key and conversions.ts >= people.ts
    union
    select conversion_key from {{ changes_of('int_conversions') }}
    union
    select conversion_key from {{ changes_of('int_outcome_names') }}
)

select conversion_key from changed
union
-- a renewal takes the path of a payment that may be another person's
select conversion_key
from {{ ref('int_conversions') }}
where path_conversion_key in (select changed.conversion_key from changed)
{% else %}
select conversion_key from {{ ref('int_conversions') }}
where false
{% endif %}
