{{ by_node(told=['profile_key', 'kind', 'value', 'person_key', 'first_seen_at', 'is_shared']) }}

with known as (
    select component_key, max(case when kind = 'anonymous_id' then 0 else 1 end) = 1 as is_known
    from {{ changed_nodes('int_identity_components') }}
    group by component_key
),

members as (
    select m.statement_key, m.is_typed, m.first_seen_at, c.node_key, c.kind, c.value, c.is_shared, c.component_key
    from {{ changed_nodes('int_identity_members') }} as m
    inner join {{ changed_nodes('int_identity_components') }} as c on m.node_key = c.node_key
),

typed as (
    select
        a.component_key,
        b.component_key as joins,
        row_number() over (
            partition by a.component_key order by a.first_seen_at nulls last, b.kind, b.value
        ) as choice
    from members as a
    inner join known as k on a.component_key = k.component_key and not k.is_known
    inner join members as b on a.statement_key = b.statement_key and b.kind in ('email', 'phone')
    where a.is_typed and a.kind = 'anonymous_id' and not a.is_shared and not b.is_shared
),

people as (
    select c.node_key, c.profile_key, c.kind, c.value, c.first_seen_at, c.is_shared,
        coalesce(t.joins, c.component_key) as component_key
    from {{ changed_nodes('int_identity_components') }} as c
    left join typed as t on c.component_key = t.component_key and t.choice = 1
),

shared as (
    select
        a.node_key,
        p.component_key as joins,
        row_number() over (partition by a.node_key order by a.first_seen_at nulls last, b.kind, b.value) as choice
    from members as a
    inner join members as b on a.statement_key = b.statement_key and not b.is_shared
    inner join people as p on b.node_key = p.node_key
    where a.is_shared
),

placed as (
    select p.node_key, p.profile_key, p.kind, p.value, p.first_seen_at, p.is_shared,
        coalesce(s.joins, p.component_key) as component_key
    from people as p
    left join shared as s on p.node_key = s.node_key and s.choice = 1
),

ranked as (
    select *,
        row_number() over (
            partition by component_key order by is_shared, first_seen_at nulls last, kind, value
        ) as age
    from placed
),

persons as (
    select r.component_key,
        r.node_key as person_key,
        {{ uuid_v8('f.profile_id', "'person'", "r.kind || ':' || r.value") }} as person_id
    from ranked as r
    inner join {{ ref('int_profiles') }} as f on r.profile_key = f.profile_key
    where r.age = 1
)

select p.node_key, p.profile_key, p.kind, p.value, s.person_key, s.person_id, p.first_seen_at, p.is_shared
from placed as p
inner join persons as s on p.component_key = s.component_key
