{{ by_person('int_changed_names', since=none) }}

with identifiers as (
    select
        profile_key,
        person_key,
        kind,
        value,
        row_number() over (partition by person_key, kind order by first_seen_at nulls last, value) as age
    from {{ changed_rows('int_person_identifiers', 'int_changed_names', since=none) }}
    where
        not is_shared
        and not {{ is_made_up('value') }}
),

named as (
    select
        profile_key,
        person_key,
        max(case when kind = 'email' then value end) as email,
        max(case when kind = 'phone' then value end) as phone,
        max(case when kind = 'external_id' then value end) as external_ref
    from identifiers
    where age = 1 and kind <> 'anonymous_id'
    group by profile_key, person_key
),

records as (
    select
        identifiers.person_key,
        people.first_name,
        people.last_name,
        row_number() over (partition by identifiers.person_key order by people.loaded_at desc, people.person_key asc)
            as recency
    from {{ ref('stg_app__people') }} as people
    inner join {{ ref('int_profiles') }} as profiles on people.profile_id = profiles.profile_id
    inner join identifiers
        on
            profiles.profile_key = identifiers.profile_key
            and identifiers.kind = 'person_key'
            and people.person_key = identifiers.value
    where people.first_name is not null or people.last_name is not null
)

select
    named.profile_key,
    named.person_key,
    records.first_name,
    records.last_name,
    named.email,
    named.phone,
    named.external_ref
from named
left join records on named.person_key = records.person_key and records.recency = 1
order by named.profile_key, named.person_key
