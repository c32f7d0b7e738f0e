{# A table on DuckDB, put in the place of the one before within one transaction: a statement that fails leaves that one,
   as with dbt's own way of two renames and a drop after the commit, which is four statements more for each model. #}
{% materialization table, adapter='duckdb' -%}
    {{ materialized_by(put_in_place(load_cached_relation(this), sql)) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{%- endmaterialization %}

{# A view in the same way: dbt's own makes one beside it, and two renames. #}
{% materialization view, adapter='duckdb' -%}
    {{ materialized_by(dropped(load_cached_relation(this)) ~ create_view_as(this.incorporate(type='view'), sql)) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{%- endmaterialization %}

{# A table that keeps rows of the build before, if there was one and this build is not whole: the new rows, and what its
   strategy (increment_strategies.sql) makes of them. dbt's own way asks twice for the columns of either, which cannot have
   changed (orchestration/increment.py), and of each model makes seven statements. #}
{% materialization incremental, adapter='duckdb' -%}
    {%- set before = load_cached_relation(this) -%}
    {%- if before is none or not before.is_table or should_full_refresh() -%}
        {{ materialized_by(put_in_place(before, sql)) }}
    {%- else -%}
        {%- set strategy = adapter.get_incremental_strategy_macro(context, config.get('incremental_strategy')) -%}
        {%- set rows -%}
            create temp table new_rows as ({{ sql }});
            {{ strategy({'target_relation': before, 'temp_relation': 'new_rows', 'unique_key': config.get('unique_key')}) }}
            drop table new_rows;
        {%- endset -%}
        {{ materialized_by(rows) }}
    {%- endif -%}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{%- endmaterialization %}

{% macro dropped(before) -%}
    {%- if before is not none %}drop {{ before.type }} if exists {{ before }};{% endif %}
{%- endmacro %}

{% macro put_in_place(before, sql) -%}
    {{ dropped(before) }}
    {%- set packed = (config.get('meta') or {}).get('packed') -%}
    {%- if packed %}
    create table {{ this }} (
        {%- for column in adapter.get_column_schema_from_query(sql) %}
        {{ adapter.quote(column.name) }} {{ column.dtype }}
            {%- if column.name in packed %} using compression {{ packed[column.name] }}{% endif %}
            {{- ',' if not loop.last }}
        {%- endfor %}
    );
    insert into {{ this }} {{ sql }};
    {%- else %}
    {{ create_table_as(False, this.incorporate(type='table'), sql) }}
    {%- endif %}
{%- endmacro %}

{# Config of a model some of whose columns DuckDB writes in the one way that suits them, instead of trying all it knows for
   each piece: `runs` hold one value many times in a row, `plain` ones (heads of hashes, long texts of their own) do not
   get smaller, or not by what it costs. Not for marts: the columns of their contracts are checked by dbt's own statement. #}
{% macro packed(runs=[], plain=[]) -%}
    {%- set ways = {} -%}
    {%- for name in runs -%}{%- do ways.update({name: 'rle'}) -%}{%- endfor -%}
    {%- for name in plain -%}{%- do ways.update({name: 'uncompressed'}) -%}{%- endfor -%}
    {{ config(meta={'packed': ways}) }}
{%- endmacro %}

{# Statements in one transaction. As one text they are one query, where dbt's own BEGIN and COMMIT are two more for each
   model; one that fails ends the connection, and with it what was begun. A model with hooks has dbt's own. #}
{% macro materialized_by(statements) -%}
    {%- set hooked = (pre_hooks + post_hooks) | length > 0 -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- call statement('main', auto_begin=hooked) -%}
        {{ statements if hooked else 'begin;\n' ~ statements ~ '\ncommit;' }}
    {%- endcall -%}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
{%- endmacro %}
