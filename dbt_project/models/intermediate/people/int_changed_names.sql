{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
with identifiers as (
    select profile_key, person_key, kind, value
    from {{ ref('int_person_identifiers') }}
)

select person_key from {{ changes_of('int_person_identifiers') }}
union
select identifiers.person_key
from {{ changes_of('stg_app__people') }} as records
inner join {{ ref('int_profiles') }} as profiles on records.profile_id = profiles.profile_id
inner join identifiers
    on
        profiles.profile_key = identifiers.profile_key
        and identifiers.kind = 'person_key'
        and records.person_key = identifiers.value
union
select identifiers.person_key
from {{ changes_of('stg_app__personal_names') }} as told
inner join {{ ref('int_profiles') }} as profiles on told.profile_id = profiles.profile_id
inner join identifiers
    on
        profiles.profile_key = identifiers.profile_key
        and told.kind = identifiers.kind
        and told.value = identifiers.value
union
select identifiers.person_key
from identifiers
inner join {{ ref('int_profiles') }} as profiles on identifiers.profile_key = profiles.profile_key
where {{ is_profile_changed() }}
{% else %}
select person_key
from {{ ref('int_person_identifiers') }}
where false
{% endif %}
