{# Columns of a select that makes a row of its own of each place in several lists of the same length, in their order.
   columns: a list of expressions by the name of its column. Once per select. #}
{% macro rows_of_lists(columns) -%}
    {{ return(adapter.dispatch('rows_of_lists')(columns)) }}
{%- endmacro %}

{% macro duckdb__rows_of_lists(columns) -%}
    {% for name, values in columns.items() -%}
        unnest([{{ values | join(', ') }}]) as {{ name }}{{ ',' if not loop.last }}
    {% endfor %}
{%- endmacro %}

{# one select takes one generator #}
{% macro spark__rows_of_lists(columns) -%}
    inline(arrays_zip(
        {% for values in columns.values() -%}
            array({{ values | join(', ') }}){{ ',' if not loop.last }}
        {% endfor -%}
    )) as ({{ columns.keys() | join(', ') }})
{%- endmacro %}
