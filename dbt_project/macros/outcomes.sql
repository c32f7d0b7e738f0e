{# Number of an outcome, by its profile and its own name: a deal may be named like a payment. #}
{% macro outcome_key(profile_id, is_cash, outcome_ref) -%}
    {{ key_of(profile_id ~ " || '" ~ (':cash:' if is_cash else ':') ~ "' || " ~ outcome_ref) }}
{%- endmacro %}

{# Config of a model whose rows of int_changed_outcomes are given anew. #}
{% macro by_outcome(told=none) -%}
    {{ kept_by(['conversion_key'], 'int_changed_outcomes', told=told) }}
{%- endmacro %}

{# The join that leaves of payments or events what int_changed_outcomes names, in a build that keeps the rest. #}
{% macro only_changed_outcomes(profile_id, is_cash, outcome_ref) -%}
    {%- do _mention('int_changed_outcomes') -%}
    {%- if keeps_own_rows() -%}
        inner join {{ ref('int_changed_outcomes') }} as changed
            on
                {{ profile_id }} = changed.profile_id
                and {{ outcome_ref }} = changed.outcome_ref
                and changed.is_cash = {{ is_cash }}
    {%- endif -%}
{%- endmacro %}

{% macro changed_outcomes(name) -%}
    {{ changed_rows(name, 'int_changed_outcomes', ['conversion_key'], none) }}
{%- endmacro %}
