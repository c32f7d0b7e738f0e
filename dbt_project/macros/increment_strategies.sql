{# What the incremental materialization runs once the new rows are in `temp_relation`; DuckDB only. #}

{% macro get_incremental_kept_sql(arg_dict) -%}
    {%- set meta, keys, since = config.get('meta'), arg_dict['unique_key'], config.get('meta')['since'] -%}
    {%- set target, temp = arg_dict['target_relation'], arg_dict['temp_relation'] -%}
    {%- set changed = distinct_changes(meta['changed'], keys, since) -%}
    {% if meta['told'] %}
    create or replace table changes.gone_{{ target.identifier }} as
    select kept.* from {{ target }} as kept inner join {{ changed }} on {{ same_keys(keys, since) }};
    {{ told_changes(target.identifier, meta['told'], 'changes.gone_' ~ target.identifier, temp) }}
    {% endif %}
    delete from {{ target }} as kept using {{ changed }} where {{ same_keys(keys, since) }};
    {{ inserted(arg_dict, temp) }}
{%- endmacro %}

{# A row that is the same on both sides stays where it is: to find those by a hash costs a third of writing them again. #}
{% macro get_incremental_compared_sql(arg_dict) -%}
    {%- set before, now = arg_dict['target_relation'], arg_dict['temp_relation'] -%}
    create or replace temp table differing as
    select old.row_no as had, new.row_no as has
    from (select rowid as row_no, hash(*columns(*)) as digest from {{ before }}) as old
    full outer join (select rowid as row_no, hash(*columns(*)) as digest from {{ now }}) as new on old.digest = new.digest
    where old.row_no is null or new.row_no is null;
    create or replace temp table gone as select * from {{ before }} where rowid in (select had from differing);
    create or replace temp table come as select * from {{ now }} where rowid in (select has from differing);
    {{ told_changes(before.identifier, arg_dict['unique_key'], 'gone', 'come') }}
    delete from {{ before }} where rowid in (select had from differing);
    {{ inserted(arg_dict, 'come') }}
{%- endmacro %}

{# The new rows are what is to be added to the rows of the same keys; who adds up to nothing is gone. #}
{% macro get_incremental_added_sql(arg_dict) -%}
    {%- set target, temp, keys = arg_dict['target_relation'], arg_dict['temp_relation'], arg_dict['unique_key'] -%}
    {%- set measures = config.get('meta')['added'] -%}
    create or replace temp table summed as
    select {{ keys | join(', ') }},
        {% for measure in measures %}sum({{ measure }}) as {{ measure }}{{ ', ' if not loop.last }}{% endfor %}
    from (
        select kept.* from {{ target }} as kept semi join {{ temp }} as changed on {{ same_keys(keys) }}
        union all by name
        select * from {{ temp }}
    )
    group by {{ keys | join(', ') }}
    having {% for measure in measures %}{{ ' or ' if not loop.first }}sum({{ measure }}) <> 0{% endfor %};
    delete from {{ target }} as kept using {{ temp }} as changed where {{ same_keys(keys) }};
    {{ inserted(arg_dict, 'summed') }}
{%- endmacro %}

{% macro inserted(arg_dict, rows) -%}
    insert into {{ arg_dict['target_relation'] }} by name select * from {{ rows }};
{%- endmacro %}

{# Rows that only one side has; the columns tell every row apart, so that EXCEPT, a third of EXCEPT ALL's cost, will do. #}
{% macro told_changes(name, columns, before, now) -%}
    {%- set columns = columns | join(', ') -%}
    create or replace table changes.{{ name }} as
    select *, false as came from (select {{ columns }} from {{ before }} except select {{ columns }} from {{ now }})
    union all
    select *, true as came from (select {{ columns }} from {{ now }} except select {{ columns }} from {{ before }});
{%- endmacro %}
