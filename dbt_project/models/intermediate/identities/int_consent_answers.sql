{{ compared(['person_key', 'occurred_s', 'answer_key', 'consent_marketing']) }}

-- Somebody may answer on a later page than the one that the visit opened with. Who says yes on a device that several
-- people share speaks for nobody else; a no there is taken for everybody's whom the device may be.
select
    people.person_key,
    touches.occurred_s,
    'touch:' || touches.touch_key as answer_key,
    touches.consent_marketing
from {{ ref('stg_app__touches') }} as touches
inner join {{ ref('int_profiles') }} as profiles on touches.profile_id = profiles.profile_id
inner join {{ ref('int_identity_keys') }} as people
    on
        profiles.profile_key = people.profile_key
        and touches.identity_key = people.identity_key
where not touches.consent_marketing or (touches.consent_marketing and not people.is_shared)

union all

select
    people.person_key,
    events.occurred_s,
    'event:' || events.event_id as answer_key,
    events.consent_marketing
from {{ ref('stg_app__page_events') }} as events
inner join {{ ref('int_profiles') }} as profiles on events.profile_id = profiles.profile_id
inner join {{ ref('int_person_identifiers') }} as people
    on
        profiles.profile_key = people.profile_key
        and people.kind = 'anonymous_id'
        and events.anonymous_id = people.value
where not events.consent_marketing or (events.consent_marketing and not people.is_shared)
