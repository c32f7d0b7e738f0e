{# dbt-spark binds an empty cell as the text None; here a cell is a literal of its column's type, and null is null. #}
{% macro spark__load_csv_rows(model, agate_table) -%}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set sql -%}
        insert into {{ this.render() }} values
        {% for row in agate_table.rows -%}
            (
            {%- for name in agate_table.column_names -%}
                {%- set type = types.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
                {%- set cell = row[name] -%}
                {%- if cell is none -%}
                    cast(null as {{ type }})
                {%- else -%}
                    cast('{{ (cell | string) | replace("'", "\\'") }}' as {{ type }})
                {%- endif -%}
                {{ ', ' if not loop.last }}
            {%- endfor -%}
            ){{ ', ' if not loop.last }}
        {% endfor %}
    {%- endset -%}
    {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
    {{ return(sql) }}
{%- endmacro %}
