{# A number that is the same where the columns are, and nearly nowhere else. Engines differ in it: good for what is looked
   at more closely afterwards, and never stored. #}
{% macro quick_hash(columns) -%}
    {{ return(adapter.dispatch('quick_hash')(columns)) }}
{%- endmacro %}

{% macro duckdb__quick_hash(columns) -%}
    hash({{ columns | join(', ') }})
{%- endmacro %}

{% macro spark__quick_hash(columns) -%}
    xxhash64({{ columns | join(', ') }})
{%- endmacro %}
