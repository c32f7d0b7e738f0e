select
    profile_key,
    day,
    {% for outcome in outcome_types() -%}
        cast(sum(case when conversion_type = '{{ outcome }}' then 1 else 0 end) as int) as {{ outcome }},
    {% endfor -%}
    cast(coalesce(sum(cash_minor), 0) as bigint) as cash_minor
from {{ ref('int_conversions') }}
group by profile_key, day
order by profile_key, day
