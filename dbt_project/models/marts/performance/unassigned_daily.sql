{{ by_day() }}

with conversions as (
    select * from {{ changed_days('int_conversions') }}
),

reached as (
    select
        conversions.profile_key,
        conversions.day,
        case when conversions.revenue_type = 'cash' then 1 else 0 end as is_cash,
        credits.*
    from {{ ref('int_platform_credits') }} as credits
    inner join conversions on credits.conversion_key = conversions.path_conversion_key
    where credits.ad_unassigned is not null
),

split as (
    select
        conversions.profile_key,
        conversions.day,
        destinations.platform,
        destinations.campaign_gap,
        destinations.ad_set_gap,
        destinations.ad_gap,
        cents.model,
        sum(cents.cents) as cents
    from {{ ref('int_credit_cents') }} as cents
    inner join conversions on cents.conversion_key = conversions.conversion_key
    inner join {{ ref('int_destinations') }} as destinations on cents.destination_key = destinations.destination_key
    where
        destinations.ad_gap > 0 and destinations.platform <> ''
        and conversions.revenue_type = 'cash'
    group by
        conversions.profile_key,
        conversions.day,
        destinations.platform,
        destinations.campaign_gap,
        destinations.ad_set_gap,
        destinations.ad_gap,
        cents.model
),

stacked as (
    {% for level in entity_levels() -%}
        {% for model in credit_models() -%}
            {% set flags = level.name ~ '_unassigned' -%}
            select profile_key, '{{ model.name }}' as model, '{{ level.name }}' as level, platform, day,
                1 as conversions, is_cash, 0 as cents
            from reached
            where {{ flags }}{{ ' & ' ~ model.bit ~ ' <> 0' if model.bit else ' is not null' }}
            union all
        {% endfor -%}
        select profile_key, model, '{{ level.name }}' as level, platform, day, 0, 0, cents
        from split
        where {{ level.gap }} > 0
        {{ 'union all' if not loop.last }}
    {% endfor %}
)

select
    profile_key,
    cast(model as {{ dbt.type_string() }}) as model,
    cast(level as {{ dbt.type_string() }}) as level,
    platform,
    day,
    cast(sum(conversions) as int) as conversions,
    cast(sum(is_cash) as int) as cash_conversions,
    cast(sum(cents) as bigint) as cash_minor
from stacked
group by profile_key, model, level, platform, day
order by profile_key, model, level, platform, day
