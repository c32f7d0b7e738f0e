{#- Connected components without recursion. A component is labelled by the number of one of its identifiers. Each
    round lowers the label of every hub to the lowest in its statements, and of all hubs of one label together, so
    that a chain shortens by a constant factor per round; a round reads the one before once. What hangs on a single
    hub, as nearly everybody's identifiers do, needs no round. Numbers are hashes, so that labels met along a chain are
    as good as random and it shrinks fast. -#}
with met as (
    select statement_key, node_key, count(*) over (partition by statement_key) as hubs
    from {{ ref('int_identity_links') }}
    where is_hub
),

round_0 as (
    select statement_key, node_key, node_key as label
    from met
    where hubs > 1
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
hubs as (
    select node_key, min(label) as label
    from round_{{ var('identity_rounds') }}
    group by node_key
),

statements as (
    select
        l.statement_key,
        coalesce(min(case when l.is_hub then coalesce(h.label, l.node_key) end), min(l.node_key)) as label
    from {{ ref('int_identity_links') }} as l
    left join hubs as h on l.node_key = h.node_key
    group by l.statement_key
),

joined as (
    select l.node_key, min(s.label) as label
    from {{ ref('int_identity_links') }} as l
    inner join statements as s on l.statement_key = s.statement_key
    group by l.node_key
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
