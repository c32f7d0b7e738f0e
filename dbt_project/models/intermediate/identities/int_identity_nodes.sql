with nodes as (
    select profile_key, kind, value, min(first_seen_at) as first_seen_at
    from {{ ref('int_identity_members') }}
    group by profile_key, kind, value
),

company as (
    select
        a.profile_key,
        a.kind,
        a.value,
        count(distinct case when b.kind = 'email' then b.value end) as emails,
        count(distinct case when b.kind = 'phone' then b.value end) as phones,
        count(distinct case when b.kind = 'external_id' then b.value end) as external_ids
    from {{ ref('int_identity_members') }} as a
    inner join {{ ref('int_identity_members') }} as b
        on a.statement_key = b.statement_key and (a.kind <> b.kind or a.value <> b.value)
    where a.kind in ('anonymous_id', 'email', 'phone')
    group by a.profile_key, a.kind, a.value
)

select
    -- in the order of a hash: labels met along a chain are then as good as random, and chains shrink fast
    cast(row_number() over (order by md5(n.kind || ':' || n.value), n.profile_key, n.kind, n.value) as bigint)
        as node_key,
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
left join company as c on n.profile_key = c.profile_key and n.kind = c.kind and n.value = c.value
