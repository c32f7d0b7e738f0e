{{ by_person('int_changed_customers', since=none) }}

-- Whoever was erased lives on under made-up names, which lead to nobody and go nowhere.
with identifiers as (
    select
        profile_key,
        person_key,
        kind,
        value,
        row_number() over (partition by person_key, kind order by first_seen_at nulls last, value) as age
    from {{ changed_rows('int_person_identifiers', 'int_changed_customers', since=none) }}
    where not is_shared and not {{ is_made_up('value') }}
),

named as (
    select
        profile_key,
        person_key,
        max(case when kind = 'email' then {{ sha256_of('value') }} end) as email_sha256,
        max(case when kind = 'phone' then {{ sha256_of('substr(value, 2)') }} end) as phone_sha256,
        max(case when kind = 'external_id' then {{ sha256_of(lower_of('trim(value)')) }} end) as external_id_sha256
    from identifiers
    where age = 1
    group by profile_key, person_key
),

-- Seconds are as fine as answers are known: of two in one a refusal may be the last that somebody ever told.
consents as (
    select
        person_key,
        consent_marketing,
        row_number() over (partition by person_key order by occurred_s desc, consent_marketing asc) as recency
    from {{ changed_rows('int_consent_answers', 'int_changed_customers', since=none) }}
),

refusals as (
    select person_key
    from consents
    where recency = 1 and not consent_marketing
    union
    select identifiers.person_key
    from {{ ref('stg_app__people') }} as people
    inner join {{ ref('int_profiles') }} as profiles on people.profile_id = profiles.profile_id
    inner join identifiers
        on
            profiles.profile_key = identifiers.profile_key
            and identifiers.kind = 'person_key'
            and people.person_key = identifiers.value
    where not people.marketing_consent
)

select
    named.profile_key,
    named.person_key,
    named.email_sha256,
    named.phone_sha256,
    named.external_id_sha256,
    refusals.person_key is not null as is_refused
from named
left join refusals on named.person_key = refusals.person_key
order by named.profile_key, named.person_key
