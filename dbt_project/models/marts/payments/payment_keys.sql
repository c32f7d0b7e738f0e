-- Ranks below 4 are the processor and the store: their keys are not the caller's own.
with own as (
    select
        claims.profile_key,
        profiles.profile_id,
        claims.payment_ref,
        claims.source_rank,
        substr(claims.claim_key, 12) as event_key
    from {{ ref('int_payment_claims') }} as claims
    inner join {{ ref('int_profiles') }} as profiles on claims.profile_key = profiles.profile_key
    where claims.source_rank >= 4
),

several as (
    select profile_key, payment_ref
    from own
    group by profile_key, payment_ref
    having count(*) > 1
)

select
    own.profile_key,
    own.event_key,
    case when own.source_rank = 4 then {{ uuid_v8('own.profile_id', "'event'", 'own.event_key') }} end
        as outcome_event_id,
    own.payment_ref
from own
inner join several on own.profile_key = several.profile_key and own.payment_ref = several.payment_ref
order by own.profile_key, own.event_key
