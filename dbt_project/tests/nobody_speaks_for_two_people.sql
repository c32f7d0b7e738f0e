{{ config(meta={
    'description': 'No statement about identifiers joins two people.',
    'dagster': {'ref': {'name': 'int_person_identifiers'}}
}) }}

-- Fails when identity_rounds is too small for the longest chain of statements, or when joining is wrong.
select
    m.statement_key,
    count(distinct case when not m.is_typed and not i.is_shared then i.person_key end) as people,
    count(distinct coalesce(g.group_key, i.person_key)) as groups
from {{ judged_rows('int_identity_members', 'int_changed_nodes', ['statement_key']) }} as m
inner join {{ ref('int_person_identifiers') }} as i on m.node_key = i.node_key
left join {{ ref('int_identity_groups') }} as g on m.node_key = g.node_key
group by m.statement_key
having
    count(distinct case when not m.is_typed and not i.is_shared then i.person_key end) > 1
    or count(distinct coalesce(g.group_key, i.person_key)) > 1
