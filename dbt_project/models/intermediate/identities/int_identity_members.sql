with declared as (
    select
        p.profile_key,
        -cast(row_number() over (order by p.profile_key, i.kind_a, i.value_a, i.kind_b, i.value_b) as bigint)
            as statement_key,
        i.*
    from {{ ref('stg_app__identities') }} as i
    inner join {{ ref('int_profiles') }} as p on i.profile_id = p.profile_id
),

stated as (
    {% for kind in identifier_kinds() -%}
    select
        profile_key, statement_key, false as is_typed, '{{ kind }}' as kind, {{ kind }} as value, first_seen_at
    from {{ ref('int_identity_statements') }}
    where {{ kind }} is not null
    union all
    {% endfor -%}
    select
        profile_key, statement_key, confidence = 'typed' as is_typed, kind_a as kind, value_a as value,
        observed_at as first_seen_at
    from declared
    union all
    select
        profile_key, statement_key, confidence = 'typed' as is_typed, kind_b as kind, value_b as value,
        observed_at as first_seen_at
    from declared
),

-- Whoever follows a link made for somebody is that person; the token names one of the person's identifiers.
links as (
    select p.profile_key, p.profile_id, e.anonymous_id, e.linked_identifier_id, min(e.occurred_at) as first_seen_at
    from {{ ref('stg_app__page_events') }} as e
    inner join {{ ref('int_profiles') }} as p on e.profile_id = p.profile_id
    where e.linked_identifier_id is not null and e.anonymous_id is not null
    group by p.profile_key, p.profile_id, e.anonymous_id, e.linked_identifier_id
),

followed as (
    select
        *,
        -1000000000000000 - cast(
            row_number() over (order by profile_key, anonymous_id, linked_identifier_id) as bigint
        ) as statement_key
    from links
),

known as (
    select distinct profile_key, kind, value
    from stated
),

named as (
    select profile_key, statement_key, is_typed, kind, value, first_seen_at
    from stated
    union all
    select profile_key, statement_key, false as is_typed, 'anonymous_id' as kind, anonymous_id as value, first_seen_at
    from followed
    union all
    select
        followed.profile_key, followed.statement_key, false as is_typed, known.kind, known.value, followed.first_seen_at
    from followed
    inner join known
        on
            followed.profile_key = known.profile_key
            and followed.linked_identifier_id
            = {{ uuid_v8('followed.profile_id', "'identifier'", "known.kind || ':' || known.value") }}
)

select
    named.profile_key,
    named.statement_key,
    {{ key_of("profiles.profile_id || ':' || named.kind || ':' || named.value") }} as node_key,
    named.is_typed,
    named.kind,
    named.value,
    named.first_seen_at
from named
inner join {{ ref('int_profiles') }} as profiles on named.profile_key = profiles.profile_key
