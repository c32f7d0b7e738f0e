{{ by_day() }}

with conversions as (
    select * from {{ changed_days('int_conversions') }}
),

counted as (
    select
        conversions.profile_key,
        conversions.day,
        conversions.outcome,
        credits.platform
        {%- for model in credit_models() %},
        {{ 'sum(case when credits.flags & ' ~ model.bit ~ ' <> 0 then 1 else 0 end)' if model.bit else 'count(*)' }}
            as {{ model.name }}
        {%- endfor %}
    from {{ ref('int_platform_credits') }} as credits
    inner join conversions on credits.conversion_key = conversions.path_conversion_key
    group by conversions.profile_key, conversions.day, conversions.outcome, credits.platform
),

split as (
    select
        conversions.profile_key,
        conversions.day,
        destinations.platform,
        cents.model,
        sum(cents.cents) as cents
    from {{ ref('int_credit_cents') }} as cents
    inner join conversions on cents.conversion_key = conversions.conversion_key
    inner join {{ ref('int_destinations') }} as destinations on cents.destination_key = destinations.destination_key
    where destinations.platform <> '' and conversions.revenue_type = 'cash'
    group by conversions.profile_key, conversions.day, destinations.platform, cents.model
),

stacked as (
    {% for model in credit_models() -%}
        select profile_key, '{{ model.name }}' as model, platform, day, outcome, {{ model.name }} as n,
            0 as cents
        from counted
        where {{ model.name }} > 0
        union all
    {% endfor -%}
    select profile_key, model, platform, day, '' as outcome, 0 as n, cents
    from split
)

select
    profile_key,
    cast(model as {{ dbt.type_string() }}) as model,
    platform,
    day,
    {% for outcome in outcome_columns() -%}
        cast(sum(case when outcome = '{{ outcome }}' then n else 0 end) as int) as {{ outcome }},
    {% endfor -%}
    cast(sum(cents) as bigint) as cash_minor
from stacked
group by profile_key, model, platform, day
order by profile_key, model, platform, day
