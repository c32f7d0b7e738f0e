{# A table on DuckDB, put in the place of the one before within one transaction: a statement that fails leaves that one,
   as with dbt's own way of two renames and a drop after the commit, which is four statements more for each model. #}
{% materialization table, adapter='duckdb' -%}
    {%- set before = load_cached_relation(this) -%}
    {%- set relation = this.incorporate(type='table') -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- call statement('main') -%}
        {%- if before is not none %}
        drop {{ before.type }} if exists {{ before }};
        {%- endif %}
        {{ create_table_as(False, relation, sql) }}
    {%- endcall -%}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({'relations': [relation]}) }}
{%- endmaterialization %}
