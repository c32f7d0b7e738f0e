{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
select conversions.profile_key, conversions.day
from {{ ref('int_conversions') }} as conversions
inner join {{ ref('int_changed_conversions') }} as changed on conversions.conversion_key = changed.conversion_key
union
select profile_key, day from {{ changes_of('int_conversions') }}
{% else %}
select profile_key, day from {{ ref('int_conversions') }}
where false
{% endif %}
