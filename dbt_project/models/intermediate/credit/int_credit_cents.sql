with amounts as (
    select
        conversion_key,
        conversion_id,
        path_conversion_key,
        cast(coalesce(cash_minor, pipeline_minor) as decimal(38, 0)) as amount
    from {{ ref('int_conversions') }}
    where coalesce(cash_minor, pipeline_minor) is not null
),

shares as (
    select
        amounts.conversion_key,
        amounts.conversion_id,
        amounts.amount,
        credits.destination_key,
        credits.k,
        credits.w_dec,
        credits.flags,
        paths.n,
        paths.s_dec
    from amounts
    inner join {{ ref('int_credits') }} as credits on amounts.path_conversion_key = credits.conversion_key
    inner join {{ ref('int_paths') }} as paths on amounts.path_conversion_key = paths.conversion_key
),

parts as (
    {% for model in credit_models() if model.bit is none -%}
        select
            conversion_key,
            conversion_id,
            destination_key,
            '{{ model.name }}' as model,
            amount,
            amount * cast({{ 'k' if model.name == 'linear' else 'w_dec' }} as decimal(38, 0)) as numerator,
            cast({{ 'n' if model.name == 'linear' else 's_dec' }} as decimal(38, 0)) as denominator
        from shares
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

floors as (
    select
        *,
        {{ floor_quotient('numerator', 'denominator') }} as whole
    from parts
),

ranked as (
    select
        floors.*,
        floors.amount - sum(floors.whole) over (
            partition by floors.conversion_key, floors.model
        ) as leftover,
        row_number() over (
            partition by floors.conversion_key, floors.model
            order by
                round(
                    cast(floors.numerator - floors.whole * floors.denominator as double)
                    / cast(floors.denominator as double) * 1000000
                ) desc,
                md5(floors.conversion_id || ':' || destinations.destination_id)
        ) as turn
    from floors
    inner join {{ ref('int_destinations') }} as destinations
        on floors.destination_key = destinations.destination_key
)

{% for model in credit_models() if model.bit is not none -%}
    select
        conversion_key,
        cast('{{ model.name }}' as {{ dbt.type_string() }}) as model,
        destination_key,
        cast(amount as bigint) as cents
    from shares
    where flags & {{ model.bit }} <> 0
    union all
{% endfor -%}
select
    conversion_key,
    model,
    destination_key,
    cast(whole + case when turn <= leftover then 1 else 0 end as bigint) as cents
from ranked
