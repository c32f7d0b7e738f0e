{{ by_conversion() }}
{{ packed(runs=['conversion_key', 'amount'], plain=['destination_key']) }}

with amounts as (
    select
        conversion_key,
        conversion_id,
        path_conversion_key,
        cast(coalesce(cash_minor, pipeline_minor) as bigint) as amount
    from {{ changed_conversions('int_conversions') }}
    where coalesce(cash_minor, pipeline_minor) is not null
),

shares as (
    select
        amounts.conversion_key,
        amounts.amount,
        credits.destination_key,
        credits.flags,
        credits.k,
        credits.w_dec,
        paths.n,
        paths.s_dec,
        -- a whole number, for sorting by a text costs twice as much
        {{ key_of("amounts.conversion_id || ':' || destinations.destination_id") }} as tie
    from amounts
    inner join {{ ref('int_credits') }} as credits on amounts.path_conversion_key = credits.conversion_key
    inner join {{ ref('int_paths') }} as paths on amounts.path_conversion_key = paths.conversion_key
    inner join {{ ref('int_destinations') }} as destinations
        on credits.destination_key = destinations.destination_key
),

{{ divided('shares', 'amount', 'w_dec', 's_dec', 'time_decay') }}
fractions as (
    select
        *,
        {{ whole_quotient('amount * k', 'n') }} as linear,
        cast(round(cast(mod(amount * k, n) as double) / cast(n as double) * 1000000) as int) as linear_fraction
    from divided
)

select
    conversion_key,
    destination_key,
    flags,
    amount
    {%- for model in credit_models() if model.bit is none %},
    cast({{ model.name }} + case
        when
            row_number() over (partition by conversion_key order by {{ model.name }}_fraction desc, tie)
            <= amount - sum({{ model.name }}) over (partition by conversion_key)
            then 1
        else 0
    end as bigint) as {{ model.name }}
    {%- endfor %}
from fractions
