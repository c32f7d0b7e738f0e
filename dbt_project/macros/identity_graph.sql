{# Config of a model of identifiers, of whose rows a build that keeps rows makes anew those of int_changed_nodes. #}
{% macro by_node(told=none) -%}
    {{ kept_by(['node_key'], 'int_changed_nodes', told=told) }}
{%- endmacro %}

{% macro changed_nodes(name, key='node_key') -%}
    {{ changed_rows(name, 'int_changed_nodes', [key], none) }}
{%- endmacro %}

{# CTEs that make `spread` of `round_0`, rows of statement_key, node_key and label. Each round lowers the label of every node
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

{{ 'spread' if loop.last else 'round_' ~ i }} as (
    select statement_key, node_key, min(low) over (partition by label) as label
    from met_{{ i }}
),
{{ '' if loop.last else '\n' }}
{%- endfor -%}
{%- endmacro %}
