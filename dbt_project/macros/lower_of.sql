{# A text in lower case, one character for one. Spark's own lower() makes two of a dotted capital I, and another sigma of
   the one that ends a word. #}
{% macro lower_of(text) -%}
    {{ adapter.dispatch('lower_of')(text) }}
{%- endmacro %}

{% macro duckdb__lower_of(text) -%}
    lower({{ text }})
{%- endmacro %}

{% macro spark__lower_of(text) -%}
    lower(translate({{ text }}, 'İΣ', 'iσ'))
{%- endmacro %}
