with declared as (
    select
        p.profile_key,
        -cast(row_number() over (order by p.profile_key, i.kind_a, i.value_a, i.kind_b, i.value_b) as bigint)
            as statement_key,
        i.*
    from {{ ref('stg_app__identities') }} as i
    inner join {{ ref('int_profiles') }} as p on i.profile_id = p.profile_id
)

{% for kind in identifier_kinds() -%}
select
    profile_key, statement_key, false as is_typed, '{{ kind }}' as kind, {{ kind }} as value, first_seen_at
from {{ ref('int_identity_statements') }}
where {{ kind }} is not null
union all
{% endfor -%}
select
    profile_key, statement_key, confidence = 'typed' as is_typed, kind_a as kind, value_a as value, observed_at
from declared
union all
select
    profile_key, statement_key, confidence = 'typed' as is_typed, kind_b as kind, value_b as value, observed_at
from declared
