{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
with met as (
    select statement_key, node_key from {{ changes_of('int_stated_members') }}
    union
    select statement_key, node_key from {{ changes_of('int_declared_members') }}
    union
    -- a followed link names one more as soon as somebody is known whom it was made for
    select kept.statement_key, kept.node_key
    from {{ ref('int_declared_members') }} as kept
    where kept.statement_key in (select told.statement_key from {{ changes_of('int_declared_members') }} as told)
),

-- What was one person or one group in the build before: no statement names identifiers in it and outside.
nodes as (
    select node_key from met
    {%- for model, whole in [('int_person_identifiers', 'person_key'), ('int_identity_groups', 'group_key')] %}
    union
    select beside.node_key
    from {{ this.schema }}.{{ model }} as beside
    where
        beside.{{ whole }} in (
            select known.{{ whole }}
            from {{ this.schema }}.{{ model }} as known
            where known.node_key in (select met.node_key from met)
        )
    {%- endfor %}
)

select members.statement_key, nodes.node_key
from nodes
left join {{ ref('int_identity_members') }} as members on nodes.node_key = members.node_key
union
select statement_key, node_key from met
{% else %}
select statement_key, node_key from {{ ref('int_identity_members') }}
where false
{% endif %}
