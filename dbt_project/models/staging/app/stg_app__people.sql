{{ compared([
    'profile_id', 'person_key', 'identity_key', 'first_name', 'last_name', 'created_at', 'marketing_consent', 'loaded_at'
]) }}

with {{ versions(source('lake', 'people'), ['_profile_id', 'person_key']) }}

select
    _profile_id as profile_id,
    person_key,
    first_name,
    last_name,
    email,
    phone,
    external_id,
    {{ identity_key(['person_key', 'email', 'phone', 'external_id']) }} as identity_key,
    created_at,
    marketing_consent,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
