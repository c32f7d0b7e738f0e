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
   nothing however old it is: after 50 halvings 0.6 to 1.3 units are left, which round to 1, so there halving ends.
   8.88e-1 is 10^15 / 2^50, which a double holds whole; so a product with a power of two is rounded as a division is. #}
{% macro decay_units(ts, newest_ts, ln2_over_hl) -%}
    {%- set age = 'cast(' ~ newest_ts ~ ' - ' ~ ts ~ ' as double) * ' ~ ln2_over_hl -%}
    {%- set halvings = exp_halvings(age) -%}
    {%- set halved = 'cast(1125899906842624 as bigint) >> cast(case when ' ~ halvings ~ ' > 50 then 50 else ' ~ halvings
        ~ ' end as int)' -%}
    cast(round({{ exp_fraction(age) }} * cast({{ halved }} as double) * 8.8817841970012523e-1) as bigint)
{%- endmacro %}
