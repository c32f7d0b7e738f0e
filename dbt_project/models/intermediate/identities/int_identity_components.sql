{{ by_node() }}

{#- Connected components without recursion. A component is labelled by the number of one of its identifiers, which
    spreads through statements. What hangs on a single hub, as nearly everybody's identifiers do, needs no round. -#}
with met as (
    select statement_key, node_key, count(*) over (partition by statement_key) as hubs
    from {{ changed_nodes('int_identity_links') }}
    where is_hub
),

round_0 as (
    select statement_key, node_key, node_key as label
    from met
    where hubs > 1
),

{{ labels_spread() }}

hubs as (
    select node_key, min(label) as label
    from spread
    group by node_key
),

statements as (
    select
        l.statement_key,
        coalesce(min(case when l.is_hub then coalesce(h.label, l.node_key) end), min(l.node_key)) as label
    from {{ changed_nodes('int_identity_links') }} as l
    left join hubs as h on l.node_key = h.node_key
    group by l.statement_key
),

joined as (
    select l.node_key, min(s.label) as label
    from {{ changed_nodes('int_identity_links') }} as l
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
from {{ changed_nodes('int_identity_nodes') }} as n
left join joined as j on n.node_key = j.node_key
