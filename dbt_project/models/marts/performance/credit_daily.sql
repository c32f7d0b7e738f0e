{{ by_day() }}

{% set outcomes = outcome_columns() %}
{% set cash = [outcomes.index('payment_received') + 1, outcomes.index('custom_cash') + 1] | join(', ') %}

with placed as (
    select
        days.*,
        places.ad_key,
        places.ad_set_key,
        places.campaign_key
    from {{ changed_days('int_credit_days') }} as days
    inner join {{ ref('int_destinations') }} as places on days.destination_key = places.destination_key
    where places.reason is null
),

stacked as (
    {% for level in entity_levels() %}{% for model in credit_models() %}
        {%- set n = (model.name if model.bit else level.name) ~ '_n' %}
        select
            profile_key,
            '{{ model.name }}' as model,
            '{{ level.name }}' as level,
            day,
            {{ level.key }} as entity_key,
            custom_type
            {%- for outcome in outcomes %},
            cast(sum(case when outcome = {{ loop.index }} then {{ n }} else 0 end) as int) as {{ outcome }}
            {%- endfor %},
            cast(coalesce(sum(case when outcome in ({{ cash }}) then {{ model.name }} end), 0) as bigint)
                as cash_minor,
            cast(coalesce(sum(case when outcome in ({{ cash }}) then null else {{ model.name }} end), 0) as bigint)
                as pipeline_minor
        from placed
        where {{ level.key }} is not null{{ ' and ' ~ n ~ ' > 0' if model.bit }}
        group by profile_key, day, {{ level.key }}, custom_type
        {{ 'union all' if not loop.last }}
        {%- endfor %}
        {{ 'union all' if not loop.last }}
    {% endfor %}
)

select
    profile_key,
    cast(model as {{ dbt.type_string() }}) as model,
    cast(level as {{ dbt.type_string() }}) as level,
    day,
    entity_key,
    cast(custom_type as {{ dbt.type_string() }}) as custom_type,
    {{ outcomes | join(',\n    ') }},
    cash_minor,
    pipeline_minor
from stacked
order by profile_key, model, level, day, entity_key, custom_type
