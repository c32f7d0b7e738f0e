{{ by_day() }}

select
    profile_key,
    day,
    cast(custom_type as {{ dbt.type_string() }}) as custom_type,
    {% for outcome in outcome_columns() -%}
        cast(sum(case when outcome = '{{ outcome }}' then 1 else 0 end) as int) as {{ outcome }},
    {% endfor -%}
    cast(coalesce(sum(cash_minor), 0) as bigint) as cash_minor
from {{ changed_days('int_conversions') }}
group by profile_key, day, custom_type
order by profile_key, day, custom_type
