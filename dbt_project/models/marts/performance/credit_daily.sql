with counted as (
    select
        conversions.profile_key,
        conversions.day,
        conversions.outcome,
        conversions.custom_type,
        destinations.campaign_key,
        destinations.ad_set_key,
        destinations.ad_key,
        credits.flags,
        count(*) as n
    from {{ ref('int_credits') }} as credits
    inner join {{ ref('int_conversions') }} as conversions on credits.conversion_key = conversions.path_conversion_key
    inner join {{ ref('int_destinations') }} as destinations on credits.destination_key = destinations.destination_key
    where destinations.reason is null
    group by
        conversions.profile_key,
        conversions.day,
        conversions.outcome,
        conversions.custom_type,
        destinations.campaign_key,
        destinations.ad_set_key,
        destinations.ad_key,
        credits.flags
),

split as (
    select
        conversions.profile_key,
        conversions.day,
        conversions.outcome,
        conversions.custom_type,
        destinations.campaign_key,
        destinations.ad_set_key,
        destinations.ad_key,
        cents.model,
        sum(cents.cents) as cents
    from {{ ref('int_credit_cents') }} as cents
    inner join {{ ref('int_conversions') }} as conversions on cents.conversion_key = conversions.conversion_key
    inner join {{ ref('int_destinations') }} as destinations on cents.destination_key = destinations.destination_key
    where destinations.reason is null
    group by
        conversions.profile_key,
        conversions.day,
        conversions.outcome,
        conversions.custom_type,
        destinations.campaign_key,
        destinations.ad_set_key,
        destinations.ad_key,
        cents.model
),

stacked as (
    {% for level in entity_levels() -%}
        select profile_key, model, '{{ level.name }}' as level, day, {{ level.key }} as entity_key,
            outcome, custom_type, 0 as n, cents
        from split
        where {{ level.key }} is not null
        union all
        {% for model in credit_models() -%}
            {% set bit = model.bit or level.first_bit -%}
            select profile_key, '{{ model.name }}' as model, '{{ level.name }}' as level, day,
                {{ level.key }} as entity_key, outcome, custom_type, n, 0 as cents
            from counted
            where {{ level.key }} is not null{{ ' and flags & ' ~ bit ~ ' <> 0' if bit }}
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
    entity_key,
    cast(custom_type as {{ dbt.type_string() }}) as custom_type,
    {% for outcome in outcome_columns() -%}
        cast(sum(case when outcome = '{{ outcome }}' then n else 0 end) as int) as {{ outcome }},
    {% endfor -%}
    cast(sum(case when outcome in ('payment_received', 'custom_cash') then cents else 0 end) as bigint) as cash_minor,
    cast(sum(case when outcome in ('payment_received', 'custom_cash') then 0 else cents end) as bigint)
        as pipeline_minor
from stacked
group by profile_key, model, level, day, entity_key, custom_type
order by profile_key, model, level, day, entity_key, custom_type
