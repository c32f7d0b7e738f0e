{{ config(meta={
    'description': "Cash on a platform's entities and its unassigned cash are its total, to the cent.",
    'dagster': {'ref': {'name': 'platform_credit_daily'}}
}) }}

-- Per model, level, platform and day: cash on the platform's entities + unassigned cash = its total, to the minor unit.
-- So do conversions under single-touch models; under multi-touch ones the two sides overlap and can only be more.
with parts as (
    select
        credit.profile_key,
        credit.model,
        credit.level,
        entities.platform,
        credit.day,
        credit.{{ outcome_columns() | join(' + credit.') }} as n,
        credit.cash_minor
    from {{ ref('credit_daily') }} as credit
    inner join {{ ref('entities') }} as entities on credit.entity_key = entities.entity_key
    union all
    select profile_key, model, level, platform, day, conversions, cash_minor from {{ ref('unassigned_daily') }}
),

added as (
    select profile_key, model, level, platform, day, sum(n) as n, sum(cash_minor) as cash_minor
    from parts
    group by profile_key, model, level, platform, day
),

levels as (
    {%- for level in entity_levels() %}
    select '{{ level.name }}' as level{{ ' union all' if not loop.last }}
    {%- endfor %}
),

totals as (
    select
        credit.profile_key,
        credit.model,
        levels.level,
        credit.platform,
        credit.day,
        credit.{{ outcome_columns() | join(' + credit.') }} as n,
        credit.cash_minor
    from {{ ref('platform_credit_daily') }} as credit
    cross join levels
)

select
    totals.*,
    added.n as added_n,
    added.cash_minor as added_cash
from totals
full outer join added
    on
        totals.profile_key = added.profile_key
        and totals.model = added.model
        and totals.level = added.level
        and totals.platform = added.platform
        and totals.day = added.day
where
    totals.profile_key is null
    or added.profile_key is null
    or totals.cash_minor <> added.cash_minor
    or totals.n > added.n
    or (totals.model not in ('linear', 'time_decay') and totals.n <> added.n)
