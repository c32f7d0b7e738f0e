{# Config of a model of identifiers, of whose rows a build that keeps rows makes anew those of int_changed_nodes. #}
{% macro by_node(told=none) -%}
    {{ kept_by(['node_key'], 'int_changed_nodes', told=told) }}
{%- endmacro %}

{# Of a model's rows those of identifiers that are looked at anew, in a build that keeps the rest; else all of them. #}
{% macro changed_nodes(name, key='node_key') -%}
    {%- do _mention('int_changed_nodes') -%}
    {%- if keeps_own_rows() -%}
        (
            select kept.*
            from {{ ref(name) }} as kept
            where kept.{{ key }} in (select changed.{{ key }} from {{ ref('int_changed_nodes') }} as changed)
        )
    {%- else -%}
        {{ ref(name) }}
    {%- endif -%}
{%- endmacro %}

{# CTEs that make round_N of round_0, rows of statement_key, node_key and label. Each round lowers the label of every node
   to the lowest in its statements, and of all nodes of one label together, so that a chain shortens by a constant factor
   per round; a round reads the one before once. Labels are hashes, so that those met along a chain are as good as random
   and it shrinks fast. #}
{% macro labels_spread() -%}
{% for i in range(1, var('identity_rounds') + 1) -%}
said_{{ i }} as (
    select statement_key, node_key, label, min(label) over (partition by statement_key) as low
    from round_{{ i - 1 }}
),

met_{{ i }} as (
    select statement_key, node_key, label, min(low) over (partition by node_key) as low
    from said_{{ i }}
),

round_{{ i }} as (
    select statement_key, node_key, min(low) over (partition by label) as label
    from met_{{ i }}
),
{{ '' if loop.last else '\n' }}
{%- endfor -%}
{%- endmacro %}

{# The last of these rounds. #}
{% macro labels_spread_out() -%}
    round_{{ var('identity_rounds') }}
{%- endmacro %}
