{# Whole seconds since 1970 of a UTC timestamp, cut and not rounded, as bigint. #}
{% macro epoch_seconds(ts) -%}
    {{ return(adapter.dispatch('epoch_seconds')(ts)) }}
{%- endmacro %}

{% macro duckdb__epoch_seconds(ts) -%}
    (epoch_us({{ ts }}) // 1000000)
{%- endmacro %}

{% macro spark__epoch_seconds(ts) -%}
    unix_seconds({{ ts }})
{%- endmacro %}
