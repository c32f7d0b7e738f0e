{# Half to even of an exact decimal, as bigint. floor() and the comparison are exact on every engine, while
   cast-to-integer rounds on one and cuts on another. #}
{% macro round_half_even(x) -%}
    (
        cast(floor({{ x }}) as bigint)
        + case
            when {{ x }} - floor({{ x }}) < 0.5 then 0
            when {{ x }} - floor({{ x }}) > 0.5 then 1
            when mod(cast(floor({{ x }}) as bigint), 2) = 0 then 0
            else 1
        end
    )
{%- endmacro %}

{# Minor units (bigint) of an amount converted at `rate` into a currency with `digits` decimals, rounded half to
   even. The product is exact: 4 decimals of the amount and 12 of the rate fit the 16 kept. Spark keeps them only with
   spark.sql.decimalOperations.allowPrecisionLoss off. Null from a hundred trillion on: no such amount is real, and one
   profile's nonsense must not end everybody's build with an overflow, also where 90,000 such amounts are added up. #}
{% macro minor_units(amount, rate, digits) -%}
    {%- set scale -%}
        cast(case {{ digits }} when 0 then 1 when 2 then 100 when 3 then 1000 when 4 then 10000 end as decimal(5, 0))
    {%- endset -%}
    {%- set scaled -%}
        (cast({{ amount }} as decimal(18, 4)) * cast({{ rate }} as decimal(19, 12)) * {{ scale }})
    {%- endset -%}
    case
        when abs(cast({{ amount }} as double)) * cast({{ rate }} as double) * {{ scale }} < 1e14
            then {{ round_half_even(scaled) }}
    end
{%- endmacro %}

{# numerator / denominator to 12 decimals, by integers: a division of decimals is a double on DuckDB. #}
{% macro rate_quotient(numerator, denominator) -%}
    {{ return(adapter.dispatch('rate_quotient')(numerator, denominator)) }}
{%- endmacro %}

{% macro duckdb__rate_quotient(numerator, denominator) -%}
    cast(
        cast(
            (2 * cast(cast({{ numerator }} as decimal(38, 12)) * 1000000000000 as hugeint) * 10000000000
                + cast({{ denominator }} * 10000000000 as hugeint))
            // (2 * cast({{ denominator }} * 10000000000 as hugeint))
            as decimal(38, 0)
        ) * 0.000000000001 as decimal(28, 12)
    )
{%- endmacro %}

{% macro spark__rate_quotient(numerator, denominator) -%}
    cast(cast({{ numerator }} as decimal(28, 12)) / cast({{ denominator }} as decimal(18, 10)) as decimal(28, 12))
{%- endmacro %}

{#- Every way from one currency to another that quotes (rate_date, base, quote, rate, source) give on one date, by
    `route` in the order they are preferred: the pair itself, its inverse, and three ways through a third currency that
    the same source prices on the same day. -#}
{%- macro fx_routes(quotes) %}
select
    rate_date, base, quote, cast(rate as decimal(28, 12)) as numerator, cast(1 as decimal(18, 10)) as denominator,
    1 as route, source
from {{ quotes }}
union all
select rate_date, quote, base, 1, rate, 2, source
from {{ quotes }}
union all
select a.rate_date, a.quote as base, b.quote, b.rate as numerator, a.rate as denominator, 3 as route, a.source
from {{ quotes }} as a
inner join {{ quotes }} as b on a.rate_date = b.rate_date and a.source = b.source and a.base = b.base
union all
select a.rate_date, a.base, b.base as quote, a.rate as numerator, b.rate as denominator, 4 as route, a.source
from {{ quotes }} as a
inner join {{ quotes }} as b on a.rate_date = b.rate_date and a.source = b.source and a.quote = b.quote
union all
select a.rate_date, a.base, b.quote, cast(a.rate * b.rate as decimal(28, 12)), 1, 5, a.source
from {{ quotes }} as a
inner join {{ quotes }} as b on a.rate_date = b.rate_date and a.source = b.source and a.quote = b.base
{%- endmacro %}
