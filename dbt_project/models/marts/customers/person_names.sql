{{ by_person('int_changed_names', since=none) }}

with identifiers as (
    select profile_key, person_key, kind, value, first_seen_at
    from {{ changed_rows('int_person_identifiers', 'int_changed_names', since=none) }}
    where not is_shared and not {{ is_made_up('value') }}
),

aged as (
    select
        *,
        row_number() over (partition by person_key, kind order by first_seen_at nulls last, value) as age
    from identifiers
    where kind <> 'anonymous_id'
),

named as (
    select
        profile_key,
        person_key,
        max(case when kind = 'email' then value end) as email,
        max(case when kind = 'phone' then value end) as phone,
        max(case when kind = 'external_id' then value end) as external_ref
    from aged
    where age = 1
    group by profile_key, person_key
),

told as (
    select
        profile_id, 'person_key' as kind, person_key as value, first_name, last_name,
        loaded_at as told_at, person_key as told_by, 0 as doubt
    from {{ ref('stg_app__people') }}
    where first_name is not null or last_name is not null

    union all

    select
        profile_id,
        kind,
        value,
        first_name,
        last_name,
        told_at,
        name_key as told_by,
        -- anybody may type a name beside somebody's address
        case when event_origin = 'browser' then 1 else 0 end as doubt
    from {{ ref('stg_app__personal_names') }}
),

ranked as (
    select
        identifiers.profile_key,
        identifiers.person_key,
        told.first_name,
        told.last_name,
        row_number() over (
            partition by identifiers.person_key order by told.doubt asc, told.told_at desc, told.told_by asc
        ) as recency
    from told
    inner join {{ ref('int_profiles') }} as profiles on told.profile_id = profiles.profile_id
    inner join identifiers
        on
            profiles.profile_key = identifiers.profile_key
            and told.kind = identifiers.kind
            and told.value = identifiers.value
),

called as (
    select profile_key, person_key, first_name, last_name
    from ranked
    where recency = 1
)

-- who is a browser alone may have told a name
select
    coalesce(named.profile_key, called.profile_key) as profile_key,
    coalesce(named.person_key, called.person_key) as person_key,
    called.first_name,
    called.last_name,
    named.email,
    named.phone,
    named.external_ref
from named
full outer join called on named.person_key = called.person_key
order by coalesce(named.profile_key, called.profile_key), coalesce(named.person_key, called.person_key)
