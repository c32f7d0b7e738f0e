{{ by_node() }}

-- Of all statements only these can name identifiers of several people.
with loose as (
    select statement_key
    from {{ changed_nodes('int_identity_members') }}
    where
        is_typed
        or node_key in (
            select shared.node_key
            from {{ changed_nodes('int_person_identifiers') }} as shared
            where shared.is_shared
        )
),

named as (
    select distinct m.statement_key, i.person_key as node_key
    from {{ changed_nodes('int_identity_members') }} as m
    inner join {{ changed_nodes('int_person_identifiers') }} as i on m.node_key = i.node_key
    where m.statement_key in (select loose.statement_key from loose)
),

company as (
    select statement_key, node_key, count(*) over (partition by statement_key) as people
    from named
),

round_0 as (
    select statement_key, node_key, node_key as label
    from company
    where people > 1
),

{{ labels_spread() }}

people as (
    select node_key as person_key, min(label) as group_key
    from spread
    group by node_key
)

select i.node_key, people.group_key
from people
inner join {{ changed_nodes('int_person_identifiers') }} as i on people.person_key = i.person_key
