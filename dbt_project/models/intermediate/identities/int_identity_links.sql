{{ by_node() }}

with members as (
    select
        m.statement_key,
        n.node_key,
        count(*) over (partition by m.statement_key) as company
    from {{ changed_nodes('int_identity_members') }} as m
    inner join {{ changed_nodes('int_identity_nodes') }} as n on m.node_key = n.node_key
    where not m.is_typed and not n.is_shared
)

select
    statement_key,
    node_key,
    count(*) over (partition by node_key) > 1 as is_hub
from members
where company > 1
