{# The seven outcomes that every profile knows. Of these only a payment carries cash. #}
{% macro outcome_types() -%}
    {{ return(['appointment_attended', 'appointment_booked', 'closed_won', 'dm_started', 'lead_created',
               'payment_received', 'quote_presented']) }}
{%- endmacro %}

{# Columns of counts in the daily marts: the seven outcomes, and those of a profile's own goals by what they are worth. #}
{% macro outcome_columns() -%}
    {{ return(outcome_types() + ['custom_cash', 'custom_pipeline', 'custom_gross']) }}
{%- endmacro %}

{# The five models. A single-touch model picks the one destination whose flags in int_credits hold its bit; a
   multi-touch model credits every destination of the path. #}
{% macro credit_models() -%}
    {{ return([
        {'name': 'last_touch', 'bit': 1},
        {'name': 'first_touch', 'bit': 2},
        {'name': 'last_non_direct', 'bit': 4},
        {'name': 'linear', 'bit': none},
        {'name': 'time_decay', 'bit': none},
    ]) }}
{%- endmacro %}

{# Levels of the ad hierarchy. `first_bit` marks, in int_credits, the one row per conversion and entity of that level
   that a multi-touch model may count; at ad level every row is that one. #}
{% macro entity_levels() -%}
    {{ return([
        {'name': 'campaign', 'key': 'campaign_key', 'gap': 'campaign_gap', 'first_bit': 16},
        {'name': 'ad_set', 'key': 'ad_set_key', 'gap': 'ad_set_gap', 'first_bit': 8},
        {'name': 'ad', 'key': 'ad_key', 'gap': 'ad_gap', 'first_bit': none},
    ]) }}
{%- endmacro %}

{# Why credit is on no entity of a level, in the order in which a conversion with several reasons is counted. A gap of
   0 means that the destination is an entity of the level. #}
{% macro gap_reasons() -%}
    {{ return(['paid_without_ad', 'unknown_ad', 'parent_only', 'other_channel', 'direct', 'no_touch']) }}
{%- endmacro %}

{# Integer weight of a touch under time_decay, relative to the newest touch of its path: 10^15 * 2^(-age/half-life).
   Integers add up to the same sum in any order, which doubles do not; at least 1, so that no touch of a path weighs
   nothing however old it is. #}
{% macro decay_units(ts, newest_ts, ln2_over_hl) -%}
    {%- set age = 'cast(' ~ newest_ts ~ ' - ' ~ ts ~ ' as double) * ' ~ ln2_over_hl -%}
    greatest(cast(round({{ exp_of_minus(age) }} * 1e15) as bigint), 1)
{%- endmacro %}

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
   tells both unless it lies closer than its own error to where they change; only then is the costly exact way gone. #}
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
            when {{ part }} = {{ total }} then 'all'
            when
                -- of more than this a double knows no millionths, and one engine's floor() ends at 64 bits
                {{ amount }} < 1000000000
                and abs(quotient - round(quotient)) > {{ amount }} * 2e-15
                and abs(quotient * 1e6 - floor(quotient * 1e6) - 0.5) > {{ amount }} * 2e-9
                then 'plain'
            else 'close'
        end as kind
    from quotients
),

wholes as (
    select
        *,
        case kind
            when 'all' then {{ amount }}
            when 'plain' then cast(floor(quotient) as bigint)
            else cast({{ floor_quotient(product, exact_total) }} as bigint)
        end as {{ name }}
    from judged
),

divided as (
    select
        *,
        case kind
            when 'all' then 0
            when 'plain' then round((quotient - floor(quotient)) * 1000000)
            else round(
                cast({{ product }} - {{ name }} * {{ exact_total }} as double) / cast({{ total }} as double) * 1000000
            )
        end as {{ name }}_fraction
    from wholes
),

{% endmacro %}
