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
        max(case when kind = 'external_id' then {{ sha256_of('lower(trim(value))') }} end) as external_id_sha256
    from identifiers
    where age = 1
    group by profile_key, person_key
),

-- Who clicks on a device that several people share is nobody's to tell.
sights as (
    select people.person_key, touches.occurred_s, touches.click_id
    from {{ ref('stg_app__touches') }} as touches
    inner join {{ ref('int_profiles') }} as profiles on touches.profile_id = profiles.profile_id
    inner join {{ changed_rows('int_identity_keys', 'int_changed_customers', since=none) }} as people
        on profiles.profile_key = people.profile_key and touches.identity_key = people.identity_key
    where touches.click_id_type = 'fbclid' and touches.click_id not like 'erased-%' and not people.is_shared
    union all
    select own.person_key, own.ts as occurred_s, own.click_id
    from {{ changed_rows('int_own_parameters', 'int_changed_customers', since=none) }} as own
    where own.click_id_type = 'fbclid' and own.click_id not like 'erased-%' and not own.is_shared
),

-- A click was when it was first seen: a stored id that comes again with every order is none the newer for it.
clicks as (
    select
        person_key,
        click_id,
        min(occurred_s) as occurred_s,
        row_number() over (partition by person_key order by min(occurred_s) desc, click_id desc) as recency
    from sights
    group by person_key, click_id
),

consents as (
    select
        person_key,
        consent_marketing,
        row_number() over (partition by person_key order by occurred_s desc, answer_key asc) as recency
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
    clicks.click_id as fbclid,
    clicks.occurred_s as clicked_s,
    refusals.person_key is not null as is_refused
from named
left join clicks on named.person_key = clicks.person_key and clicks.recency = 1
left join refusals on named.person_key = refusals.person_key
order by named.profile_key, named.person_key
