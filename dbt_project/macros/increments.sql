{# Models that a build on DuckDB does not compute whole where the build before left its base (orchestration/increment.py).
   On Spark, and in a full refresh, every model is a table made anew from the same SELECT. #}

{# Config of a model whose rows of what changed are deleted and given anew by the SELECT, which reads changed_rows().
   `changed` names, by the columns `key`, whose rows those are; of a person only those from the time on that it tells
   beside `since`, a column of both. With `told`, some of the columns, the schema `changes` tells which rows came and went. #}
{% macro kept_by(key, changed, since=none, told=none) -%}
    {%- do _mention(changed) -%}
    {{ config(
        materialized=('incremental' if target.type == 'duckdb' else 'table'),
        incremental_strategy='kept', on_schema_change='fail', unique_key=key,
        meta={'changed': changed, 'since': since, 'told': told}
    ) }}
{%- endmacro %}

{% macro by_person(changed='int_changed_paths', since='ts', told=none) -%}
    {{ kept_by(['person_key'], changed, since, told) }}
{%- endmacro %}

{% macro by_conversion() -%}
    {{ kept_by(['conversion_key'], 'int_changed_conversions') }}
{%- endmacro %}

{# Config of a model that is computed whole, and tells in the schema `changes` which of its rows, by some of its columns,
   came or went since the build before. #}
{% macro compared(columns) -%}
    {{ config(
        materialized=('incremental' if target.type == 'duckdb' else 'table'),
        incremental_strategy='compared', on_schema_change='fail', unique_key=columns
    ) }}
{%- endmacro %}

{# Config of a model of sums: its SELECT gives, in a build that keeps rows, what is to be added to them by `keys`. #}
{% macro added_up(keys, measures) -%}
    {{ config(
        materialized=('incremental' if target.type == 'duckdb' else 'table'),
        incremental_strategy='added', on_schema_change='fail', unique_key=keys, meta={'added': measures}
    ) }}
{%- endmacro %}
