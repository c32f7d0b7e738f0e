{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
with identifiers as (
    select profile_key, person_key, kind, value
    from {{ ref('int_person_identifiers') }}
),

found as (
    select person_key from {{ ref('int_changed_paths') }}
    union all
    select person_key from {{ changes_of('int_conversions') }}
    union all
    select person_key from {{ changes_of('int_person_identifiers') }}
    union all
    select person_key from {{ changes_of('int_consent_answers') }}
    union all
    select identifiers.person_key
    from {{ changes_of('stg_app__people') }} as records
    inner join {{ ref('int_profiles') }} as profiles on records.profile_id = profiles.profile_id
    inner join identifiers
        on
            profiles.profile_key = identifiers.profile_key
            and identifiers.kind = 'person_key'
            and records.person_key = identifiers.value
    union all
    select identifiers.person_key
    from {{ changes_of('int_page_days') }} as days
    inner join identifiers
        on
            days.profile_key = identifiers.profile_key
            and days.anonymous_id = identifiers.value
            and identifiers.kind = 'anonymous_id'
    union all
    select identifiers.person_key
    from identifiers
    inner join {{ ref('int_profiles') }} as profiles on identifiers.profile_key = profiles.profile_key
    where {{ is_profile_changed() }}
)

select distinct person_key
from found
where person_key is not null
{% else %}
select person_key
from {{ ref('int_changed_paths') }}
where false
{% endif %}
