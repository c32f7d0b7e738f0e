{{ by_day() }}

{% set outcomes = outcome_columns() %}
{% set multis = credit_models() | rejectattr('bit') | list %}

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

-- Models that share a path among its touches have the same counts, so what was counted once is stacked for each.
shared as (
    {% for level in entity_levels() %}
        select
            profile_key,
            '{{ level.name }}' as level,
            {{ level.key }} as entity_key,
            day,
            custom_type,
            {{ outcome_counts(level.name ~ '_n') }}
            {%- for model in multis %},
            {{ credited_money(model.name, model.name ~ '_') }}
            {%- endfor %}
        from placed
        where {{ level.key }} is not null
        group by profile_key, day, {{ level.key }}, custom_type
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

stacked as (
    {% for level in entity_levels() %}{% for model in credit_models() if model.bit %}
        select
            profile_key,
            '{{ model.name }}' as model,
            '{{ level.name }}' as level,
            {{ level.key }} as entity_key,
            day,
            custom_type,
            {{ outcome_counts(model.name ~ '_n') }},
            {{ credited_money(model.name) }}
        from placed
        where {{ level.key }} is not null and {{ model.name }}_n > 0
        group by profile_key, day, {{ level.key }}, custom_type
        union all
    {% endfor %}{% endfor %}
    {% for model in multis %}
        select
            profile_key,
            '{{ model.name }}' as model,
            level,
            entity_key,
            day,
            custom_type,
            {{ outcomes | join(', ') }},
            {{ model.name }}_cash_minor as cash_minor,
            {{ model.name }}_pipeline_minor as pipeline_minor
        from shared
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
