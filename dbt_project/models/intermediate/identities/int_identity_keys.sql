{{ kept_by(['statement_key'], 'int_changed_nodes', told=['profile_key', 'identity_key', 'person_key', 'is_shared']) }}

with spoken as (
    select
        s.statement_key,
        s.profile_key,
        s.identity_key,
        i.person_key,
        i.is_shared,
        row_number() over (
            partition by s.statement_key
            order by
                i.is_shared,
                case i.kind
                    {%- for kind in identifier_kinds() %}
                    when '{{ kind }}' then {{ loop.index }}
                    {%- endfor %}
                end
        ) as choice
    from {{ changed_nodes('int_identity_statements', 'statement_key') }} as s
    inner join {{ ref('int_identity_members') }} as m on s.statement_key = m.statement_key
    inner join {{ ref('int_person_identifiers') }} as i on m.node_key = i.node_key
)

select statement_key, profile_key, identity_key, person_key, is_shared
from spoken
where choice = 1
