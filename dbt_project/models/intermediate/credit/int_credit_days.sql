{{ by_day() }}

{% set singles = credit_models() | selectattr('bit') | list %}
{% set outcomes = outcome_columns() %}

with conversions as (
    select
        conversion_key,
        path_conversion_key,
        profile_key,
        day,
        custom_type,
        case outcome
            {%- for outcome in outcomes %}
            when '{{ outcome }}' then {{ loop.index }}
            {%- endfor %}
        end as outcome
    from {{ changed_days('int_conversions') }}
),

-- One number for what conversions are grouped by: four columns, one of them a text, cost twice as much on every credit.
numbered as (
    select
        *,
        dense_rank() over (order by profile_key, day, custom_type, outcome) as cell
    from conversions
),

cells as (
    select distinct cell, profile_key, day, custom_type, outcome
    from numbered
),

counted as (
    select
        numbered.cell,
        credits.destination_key
        {%- for model in singles %},
        cast(sum(case when credits.flags & {{ model.bit }} <> 0 then 1 else 0 end) as int) as {{ model.name }}_n
        {%- endfor %}
        {%- for level in entity_levels() %},
        cast({{ 'sum(case when credits.flags & ' ~ level.first_bit ~ ' <> 0 then 1 else 0 end)' if level.first_bit
            else 'count(*)' }} as int) as {{ level.name }}_n
        {%- endfor %}
    from {{ ref('int_credits') }} as credits
    inner join numbered on credits.conversion_key = numbered.path_conversion_key
    group by numbered.cell, credits.destination_key
),

split as (
    select
        numbered.cell,
        shares.destination_key
        {%- for model in credit_models() %},
        cast(sum({{ 'case when shares.flags & ' ~ model.bit ~ ' <> 0 then shares.amount end' if model.bit
            else 'shares.' ~ model.name }}) as bigint) as {{ model.name }}
        {%- endfor %}
    from {{ ref('int_credit_shares') }} as shares
    inner join numbered on shares.conversion_key = numbered.conversion_key
    group by numbered.cell, shares.destination_key
)

select
    cells.profile_key,
    cells.day,
    cells.custom_type,
    cells.outcome,
    counted.destination_key,
    {% for model in singles -%}
        counted.{{ model.name }}_n,
    {% endfor -%}
    {% for level in entity_levels() -%}
        counted.{{ level.name }}_n,
    {% endfor -%}
    {% for model in credit_models() -%}
        split.{{ model.name }}{{ ',' if not loop.last }}
    {% endfor %}
from counted
inner join cells on counted.cell = cells.cell
left join split on counted.cell = split.cell and counted.destination_key = split.destination_key
