{# The UTC timestamp, without zone, of whole seconds since 1970. #}
{% macro timestamp_of(seconds) -%}
    {{ return(adapter.dispatch('timestamp_of')(seconds)) }}
{%- endmacro %}

{% macro duckdb__timestamp_of(seconds) -%}
    make_timestamp(({{ seconds }}) * 1000000)
{%- endmacro %}

{% macro spark__timestamp_of(seconds) -%}
    cast(timestamp_seconds({{ seconds }}) as timestamp_ntz)
{%- endmacro %}
