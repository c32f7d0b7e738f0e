{# Whole days from one date to a later one. #}
{% macro days_between(first, last) -%}
    {{ return(adapter.dispatch('days_between')(first, last)) }}
{%- endmacro %}

{% macro duckdb__days_between(first, last) -%}
    ({{ last }} - {{ first }})
{%- endmacro %}

{% macro spark__days_between(first, last) -%}
    datediff({{ last }}, {{ first }})
{%- endmacro %}
