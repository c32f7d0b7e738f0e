with conversions as (
    select * from {{ ref('int_conversions') }}
),

destinations as (
    select * from {{ ref('int_destinations') }}
),

counted as (
    select
        conversions.profile_key,
        conversions.day,
        conversions.conversion_type,
        destinations.campaign_key,
        destinations.ad_set_key,
        destinations.ad_key,
        credits.flags,
        count(*) as n
    from {{ ref('int_credits') }} as credits
    inner join conversions on credits.conversion_key = conversions.path_conversion_key
    inner join destinations on credits.destination_key = destinations.destination_key
    where destinations.reason is null
    group by
        conversions.profile_key,
        conversions.day,
        conversions.conversion_type,
        destinations.campaign_key,
        destinations.ad_set_key,
        destinations.ad_key,
        credits.flags
),

split as (
    select
        conversions.profile_key,
        conversions.day,
        conversions.conversion_type,
        destinations.campaign_key,
        destinations.ad_set_key,
        destinations.ad_key,
        cents.model,
        sum(cents.cents) as cents
    from {{ ref('int_credit_cents') }} as cents
    inner join conversions on cents.conversion_key = conversions.conversion_key
    inner join destinations on cents.destination_key = destinations.destination_key
    where destinations.reason is null
    group by
        conversions.profile_key,
        conversions.day,
        conversions.conversion_type,
        destinations.campaign_key,
        destinations.ad_set_key,
        destinations.ad_key,
        cents.model
),

stacked as (
    {% for level in entity_levels() -%}
        select profile_key, model, '{{ level.name }}' as level, day, {{ level.key }} as entity_key, conversion_type,
            0 as n, cents
        from split
        where {{ level.key }} is not null
        union all
        {% for model in credit_models() -%}
            {% set bit = model.bit or level.first_bit -%}
            select profile_key, '{{ model.name }}' as model, '{{ level.name }}' as level, day,
                {{ level.key }} as entity_key, conversion_type, n, 0 as cents
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
    {% for outcome in outcome_types() -%}
        cast(sum(case when conversion_type = '{{ outcome }}' then n else 0 end) as int) as {{ outcome }},
    {% endfor -%}
    cast(sum(case when conversion_type = 'payment_received' then cents else 0 end) as bigint) as cash_minor,
    cast(sum(case when conversion_type <> 'payment_received' then cents else 0 end) as bigint) as pipeline_minor
from stacked
group by profile_key, model, level, day, entity_key
order by profile_key, model, level, day, entity_key
