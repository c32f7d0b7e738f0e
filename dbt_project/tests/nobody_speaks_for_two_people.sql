-- Fails when identity_rounds is too small for the longest chain of statements, or when joining is wrong.
select
    m.statement_key,
    count(distinct i.person_key) as people
from {{ ref('int_identity_members') }} as m
inner join {{ ref('int_person_identifiers') }} as i on m.node_key = i.node_key
where not m.is_typed and not i.is_shared
group by m.statement_key
having count(distinct i.person_key) > 1
