{# SHA-256 of a text in UTF-8, as 64 hexadecimal digits in lower case. #}
{% macro sha256_of(text) -%}
    {{ return(adapter.dispatch('sha256_of')(text)) }}
{%- endmacro %}

{% macro duckdb__sha256_of(text) -%}
    sha256({{ text }})
{%- endmacro %}

{% macro spark__sha256_of(text) -%}
    sha2({{ text }}, 256)
{%- endmacro %}
