{# numerator / denominator cut to a whole, both decimal(38, 0) and the denominator positive. One engine divides decimals
   into doubles, so the quotient is guessed in doubles, mended by the exact remainder of the guess, and what is then at
   most one off is told by exact products. #}
{% macro floor_quotient(numerator, denominator) -%}
    {%- set guess -%}
        cast(floor(cast({{ numerator }} as double) / cast({{ denominator }} as double)) as decimal(38, 0))
    {%- endset -%}
    {%- set mended -%}
        ({{ guess }} + cast(floor(
            cast({{ numerator }} - {{ guess }} * {{ denominator }} as double) / cast({{ denominator }} as double)
        ) as decimal(38, 0)))
    {%- endset -%}
    {{ mended }} + case
        when {{ mended }} * {{ denominator }} > {{ numerator }} then -1
        when ({{ mended }} + 1) * {{ denominator }} <= {{ numerator }} then 1
        else 0
    end
{%- endmacro %}

{# numerator / denominator cut to a whole, both bigint, the numerator not negative and the denominator positive. #}
{% macro whole_quotient(numerator, denominator) -%}
    {{ return(adapter.dispatch('whole_quotient')(numerator, denominator)) }}
{%- endmacro %}

{% macro duckdb__whole_quotient(numerator, denominator) -%}
    (({{ numerator }}) // ({{ denominator }}))
{%- endmacro %}

{% macro spark__whole_quotient(numerator, denominator) -%}
    (({{ numerator }}) div ({{ denominator }}))
{%- endmacro %}

{# CTEs that end in `divided`: the rows of `rows` with amount * part / total cut to a whole, as column `name`, and what was
   cut off in millionths, as `name`_fraction. All three are bigint, none negative, the part at most the total. A double
   tells both unless it lies closer than its own error to where they change; only then is the costly exact way gone. `way`:
   0 takes all, 1 trusts the double, 2 does not. #}
{% macro divided(rows, amount, part, total, name) -%}
    {%- set product = 'cast(' ~ amount ~ ' as decimal(38, 0)) * cast(' ~ part ~ ' as decimal(38, 0))' -%}
    {%- set exact_total = 'cast(' ~ total ~ ' as decimal(38, 0))' -%}
quotients as (
    select
        *,
        cast({{ amount }} as double) * cast({{ part }} as double) / cast({{ total }} as double) as quotient
    from {{ rows }}
),

judged as (
    select
        *,
        case
            when {{ part }} = {{ total }} then 0
            when
                -- of more than this a double knows no millionths, and one engine's floor() ends at 64 bits
                {{ amount }} < 1000000000
                and abs(quotient - round(quotient)) > {{ amount }} * 2e-15
                and abs(quotient * 1e6 - floor(quotient * 1e6) - 0.5) > {{ amount }} * 2e-9
                then 1
            else 2
        end as way
    from quotients
),

wholes as (
    select
        *,
        case way
            when 0 then {{ amount }}
            when 1 then cast(floor(quotient) as bigint)
            else cast({{ floor_quotient(product, exact_total) }} as bigint)
        end as {{ name }}
    from judged
),

divided as (
    select
        *,
        cast(case way
            when 0 then 0
            when 1 then round((quotient - floor(quotient)) * 1000000)
            else round(
                cast({{ product }} - {{ name }} * {{ exact_total }} as double) / cast({{ total }} as double) * 1000000
            )
        end as int) as {{ name }}_fraction
    from wholes
),

{% endmacro %}
