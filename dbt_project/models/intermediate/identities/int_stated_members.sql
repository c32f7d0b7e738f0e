{{ kept_by(
    ['statement_key'], 'int_changed_statements', told=['profile_key', 'statement_key', 'node_key', 'first_seen_at']
) }}

with statements as (
    select kept.*
    from {{ changed_rows('int_identity_statements', 'int_changed_statements', ['statement_key'], none) }} as kept
),

members as (
    {% for kind in identifier_kinds() -%}
    select profile_key, statement_key, '{{ kind }}' as kind, {{ kind }} as value, first_seen_at
    from statements
    where {{ kind }} is not null
    {{ 'union all' if not loop.last }}
    {% endfor %}
)

select
    members.profile_key,
    members.statement_key,
    {{ node_key('profiles.profile_id', 'members.kind', 'members.value') }} as node_key,
    members.kind,
    members.value,
    members.first_seen_at
from members
inner join {{ ref('int_profiles') }} as profiles on members.profile_key = profiles.profile_key
