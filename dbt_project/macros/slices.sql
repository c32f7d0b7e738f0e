{# Ranges of persons with about a million touches each, for statements that join and group by person: in pieces of that
   size their hash tables stay small, so that time grows with the data and memory hardly does. A cluster partitions by
   itself and gets one range. The first range has no lower end and the last no upper one, so nobody is left out. #}
{% macro person_slices() -%}
    {{ return(adapter.dispatch('person_slices')()) }}
{%- endmacro %}

{% macro default__person_slices() -%}
    {{ return([(none, none)]) }}
{%- endmacro %}

{% macro duckdb__person_slices() -%}
    {%- set named = ref('int_touches') -%}
    {#- in a unit test it is a part of the statement itself, and no table -#}
    {%- set touches = load_relation(named) if execute and named.schema else none -%}
    {%- if touches is none or keeps_own_rows() -%}{{ return([(none, none)]) }}{%- endif -%}
    {#- keys of persons are heads of hashes, so equal ranges of numbers hold about as many of them -#}
    {%- set slices = [run_query('select count(*) from ' ~ touches).rows[0][0] // var('slice_touches'), 1] | max -%}
    {%- set step = 2 ** 63 // slices -%}
    {%- set found = [] -%}
    {%- for i in range(slices) -%}
        {%- do found.append((none if i == 0 else i * step, none if i == slices - 1 else (i + 1) * step)) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro %}

{# The WHERE clause that keeps a statement within one of person_slices(), empty when there is only one. #}
{% macro within(slice, person_key) -%}
    {%- set ends = [] -%}
    {%- if slice[0] is not none -%}{%- do ends.append(person_key ~ ' >= ' ~ slice[0]) -%}{%- endif -%}
    {%- if slice[1] is not none -%}{%- do ends.append(person_key ~ ' < ' ~ slice[1]) -%}{%- endif -%}
    {{ 'where ' ~ ends | join(' and ') if ends }}
{%- endmacro %}
