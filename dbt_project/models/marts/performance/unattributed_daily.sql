{{ by_day() }}

{% set reasons = gap_reasons() %}
{% set no_touch = reasons | length %}
{% set singles = credit_models() | selectattr('bit') | map(attribute='name') | list %}
{% set families = singles + ['multi'] %}

with conversions as (
    select
        conversions.conversion_key,
        conversions.profile_key,
        conversions.day,
        conversions.outcome,
        conversions.custom_type,
        conversions.revenue_type,
        conversions.cash_minor,
        gaps.conversion_key is null as is_none
        {%- for level in entity_levels() %}{% for family in families %},
        coalesce(gaps.{{ family }}_{{ level.gap }}, {{ no_touch }}) as {{ family }}_{{ level.gap }}
        {%- endfor %}{% endfor %}
    from {{ changed_days('int_conversions') }} as conversions
    left join {{ ref('int_outcome_gaps') }} as gaps on conversions.path_conversion_key = gaps.conversion_key
),

split as (
    select
        conversions.profile_key,
        conversions.day,
        conversions.custom_type,
        cents.model,
        {% for level in entity_levels() -%}
            destinations.{{ level.gap }},
        {% endfor -%}
        sum(cents.cents) as cents
    from {{ ref('int_credit_cents') }} as cents
    inner join conversions on cents.conversion_key = conversions.conversion_key
    inner join {{ ref('int_destinations') }} as destinations on cents.destination_key = destinations.destination_key
    where destinations.ad_gap > 0 and conversions.revenue_type = 'cash'
    group by
        conversions.profile_key,
        conversions.day,
        conversions.custom_type,
        cents.model,
        destinations.campaign_gap,
        destinations.ad_set_gap,
        destinations.ad_gap
),

stacked as (
    {% for level in entity_levels() -%}
        select profile_key, model, '{{ level.name }}' as level, day, {{ level.gap }} as gap,
            '' as outcome, custom_type, 0 as n, cents
        from split
        where {{ level.gap }} > 0
        union all
        {% for model in credit_models() -%}
            {% set gap = (model.name if model.bit else 'multi') ~ '_' ~ level.gap -%}
            select profile_key, '{{ model.name }}' as model, '{{ level.name }}' as level, day, {{ gap }} as gap,
                outcome, custom_type, count(*) as n, sum(case when is_none then cash_minor else 0 end) as cents
            from conversions
            where {{ gap }} > 0
            group by profile_key, day, {{ gap }}, outcome, custom_type
            {{ 'union all' if not loop.last }}
        {% endfor %}
        {{ 'union all' if not loop.last }}
    {% endfor %}
)

select
    profile_key,
    cast(model as {{ dbt.type_string() }}) as model,
    cast(level as {{ dbt.type_string() }}) as level,
    day,
    cast(
        case gap
            {%- for reason in reasons %}
            when {{ loop.index }} then '{{ reason }}'
            {%- endfor %}
        end as {{ dbt.type_string() }}
    ) as reason,
    cast(custom_type as {{ dbt.type_string() }}) as custom_type,
    {% for outcome in outcome_columns() -%}
        cast(sum(case when outcome = '{{ outcome }}' then n else 0 end) as int) as {{ outcome }},
    {% endfor -%}
    cast(coalesce(sum(cents), 0) as bigint) as cash_minor
from stacked
group by profile_key, model, level, day, gap, custom_type
order by profile_key, model, level, day, gap, custom_type
