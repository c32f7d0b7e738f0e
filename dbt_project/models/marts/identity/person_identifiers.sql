{{ by_person('int_changed_names', since=none) }}

select
    identifiers.profile_key,
    {{ uuid_v8('profiles.profile_id', "'identifier'", "identifiers.kind || ':' || identifiers.value") }}
        as identifier_id,
    identifiers.person_id as person_ref,
    {{ uuid_v8('profiles.profile_id', "'person'", "identifiers.kind || ':' || identifiers.value") }} as alias_ref,
    identifiers.person_key
from {{ changed_rows('int_person_identifiers', 'int_changed_names', since=none) }} as identifiers
inner join {{ ref('int_profiles') }} as profiles on identifiers.profile_key = profiles.profile_key
order by identifiers.profile_key, identifier_id
