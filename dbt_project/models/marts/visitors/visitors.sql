select
    visitors.profile_key,
    visitors.visitor_key,
    {{ uuid_v8('profiles.profile_id', "'identifier'", "'anonymous_id:' || visitors.anonymous_id") }} as visitor_id,
    customers.person_key,
    customers.person_ref,
    visitors.last_seen,
    visitors.sessions,
    visitors.pageviews,
    visitors.channel,
    visitors.utm_source as source,
    visitors.country,
    visitors.device
from {{ ref('int_visitors') }} as visitors
inner join {{ ref('int_profiles') }} as profiles on visitors.profile_key = profiles.profile_key
-- A device that several people share is nobody's.
left join {{ ref('int_person_identifiers') }} as identifiers
    on
        visitors.profile_key = identifiers.profile_key
        and visitors.anonymous_id = identifiers.value
        and identifiers.kind = 'anonymous_id'
        and not identifiers.is_shared
left join {{ ref('customers') }} as customers on identifiers.person_key = customers.person_key
order by visitors.profile_key, visitors.visitor_key
