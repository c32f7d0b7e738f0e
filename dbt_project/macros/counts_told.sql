{# CTEs, the last named `added`: what the marts tell of conversions, by day, model, level and type. `row_n` counts rows of
   entities, which overlap under multi-touch models, `rest_n` conversions that no entity of the level is credited with. #}
{% macro counts_told() -%}
told as (
    {% for outcome in outcome_columns() -%}
        select profile_key, model, level, day, '{{ outcome }}' as conversion_type, {{ outcome }} as row_n, 0 as rest_n
        from {{ ref('credit_daily') }}
        union all
        select profile_key, model, level, day, '{{ outcome }}', 0, {{ outcome }} from {{ ref('unattributed_daily') }}
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

added as (
    select profile_key, model, level, day, conversion_type, sum(row_n) as row_n, sum(rest_n) as rest_n
    from told
    group by profile_key, model, level, day, conversion_type
)
{%- endmacro %}
