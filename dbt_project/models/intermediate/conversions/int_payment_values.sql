-- A processor's attempt that failed is no payment, whatever lesser sources say.
with told as (
    select * from {{ ref('int_payment_claims') }}
),

parts as (
    select distinct
        profile_key,
        parts_of,
        payment_ref as part
    from told
    where parts_of is not null and not is_total_of_parts
),

-- An order that several payments paid says of each of them who its buyer is.
claims as (
    select
        told.*,
        told.payment_ref as spoken_of
    from told

    union all

    select
        told.*,
        parts.part as spoken_of
    from told
    inner join parts on told.profile_key = parts.profile_key and told.parts_of = parts.parts_of
    where told.is_total_of_parts and told.payment_ref <> parts.part
),

ranked as (
    select
        claims.*,
        people.person_key,
        people.is_shared,
        min(case when claims.conversion_type <> 'payment_received' then claims.conversion_type end) over (
            partition by claims.profile_key, claims.spoken_of
        ) as custom_type,
        row_number() over (
            partition by claims.profile_key, claims.spoken_of
            order by
                -- What an order cost in all is not what one of its payments was.
                case when claims.is_total_of_parts then 1 else 0 end,
                claims.source_rank,
                case when claims.is_captured then 0 else 1 end,
                claims.ts,
                claims.claim_key
        ) as value_turn,
        row_number() over (
            partition by claims.profile_key, claims.spoken_of
            order by
                -- Who shares an inbox with others is a guess, and whom a lesser source knows is none.
                case when people.person_key is null then 2 when people.is_shared then 1 else 0 end,
                claims.source_rank,
                case when claims.is_captured then 0 else 1 end,
                claims.ts,
                claims.claim_key
        ) as person_turn
    from claims
    left join {{ ref('int_identity_keys') }} as people
        on
            claims.profile_key = people.profile_key
            and claims.identity_key = people.identity_key
)

select
    best.profile_key,
    best.spoken_of as payment_ref,
    coalesce(best.custom_type, 'payment_received') as conversion_type,
    coalesce(payers.person_key, known.person_key) as person_key,
    coalesce(payers.person_key is null and known.is_shared, false) as is_shared,
    best.ts,
    best.value,
    best.currency,
    best.source_rank
from ranked as best
inner join ranked as known
    on best.profile_key = known.profile_key and best.spoken_of = known.spoken_of
left join {{ ref('int_payment_payers') }} as payers
    on best.profile_key = payers.profile_key and best.spoken_of = payers.payment_ref
where best.value_turn = 1 and known.person_turn = 1 and best.is_captured
