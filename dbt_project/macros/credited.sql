{# Of int_credit_days grouped: `n` summed as a column per outcome, in the order of outcome_columns(). #}
{% macro outcome_counts(n) -%}
    {% for outcome in outcome_columns() -%}
        cast(sum(case when outcome = {{ loop.index }} then {{ n }} else 0 end) as int) as {{ outcome }}
        {{- ',\n' if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{# Of the same: `amount` summed as cash_minor, over the outcomes that are payments, and as pipeline_minor, over the rest. #}
{% macro credited_money(amount, prefix='') -%}
    {%- set outcomes = outcome_columns() -%}
    {%- set cash = [outcomes.index('payment_received') + 1, outcomes.index('custom_cash') + 1] | join(', ') -%}
    cast(coalesce(sum(case when outcome in ({{ cash }}) then {{ amount }} end), 0) as bigint)
        as {{ prefix }}cash_minor,
    cast(coalesce(sum(case when outcome in ({{ cash }}) then null else {{ amount }} end), 0) as bigint)
        as {{ prefix }}pipeline_minor
{%- endmacro %}
