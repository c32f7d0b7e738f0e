{{ by_node() }}

with nodes as (
    select node_key, profile_key, kind, value, min(first_seen_at) as first_seen_at
    from {{ changed_nodes('int_identity_members') }}
    group by node_key, profile_key, kind, value
),

company as (
    select
        a.node_key,
        count(distinct case when b.kind = 'email' then b.node_key end) as emails,
        count(distinct case when b.kind = 'phone' then b.node_key end) as phones,
        count(distinct case when b.kind = 'external_id' then b.node_key end) as external_ids
    from {{ changed_nodes('int_identity_members') }} as a
    inner join {{ changed_nodes('int_identity_members') }} as b
        on a.statement_key = b.statement_key and a.node_key <> b.node_key
    where a.kind in ('anonymous_id', 'email', 'phone')
    group by a.node_key
)

select
    n.node_key,
    n.profile_key,
    n.kind,
    n.value,
    n.first_seen_at,
    coalesce(
        case
            when n.kind = 'anonymous_id'
                then c.emails > {{ var('shared_device_limit') }} or c.phones > {{ var('shared_device_limit') }}
            else c.external_ids > {{ var('shared_inbox_limit') }}
        end, false
    ) as is_shared
from nodes as n
left join company as c on n.node_key = c.node_key
