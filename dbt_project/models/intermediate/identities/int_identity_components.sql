{#- Connected components without recursion. A label is the number of some node of the same component. Each round
    lowers the label of every node to the lowest in its statements, and of every label's nodes together, so that a
    chain shortens by a constant factor per round. Rows are memberships: each round reads the one before once. -#}
with members as (
    select
        m.statement_key,
        n.node_key,
        count(*) over (partition by m.statement_key) as company
    from {{ ref('int_identity_members') }} as m
    inner join {{ ref('int_identity_nodes') }} as n
        on m.profile_key = n.profile_key and m.kind = n.kind and m.value = n.value
    where not m.is_typed and not n.is_shared
),

round_0 as (
    select statement_key, node_key, node_key as label
    from members
    where company > 1
),

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

{% endfor -%}
joined as (
    select node_key, min(label) as label
    from round_{{ var('identity_rounds') }}
    group by node_key
)

select
    n.node_key,
    n.profile_key,
    n.kind,
    n.value,
    n.first_seen_at,
    n.is_shared,
    coalesce(j.label, n.node_key) as component_key
from {{ ref('int_identity_nodes') }} as n
left join joined as j on n.node_key = j.node_key
