{{ compared([
    'profile_key', 'payment_ref', 'conversion_type', 'person_key', 'ts', 'value', 'currency', 'refunded',
    'only_in_total'
]) }}

-- The store's own total counts the refunds that others may have sent as rows, so the two are never added. What was
-- entered by hand the store does not know.
with totals as (
    select
        claims.profile_key,
        claims.payment_ref,
        claims.currency,
        greatest(
            max(claims.refunded) - coalesce(max(refunds.refunded - refunds.by_hand), 0), 0
        ) as only_in_total
    from {{ ref('int_payment_claims') }} as claims
    left join {{ ref('int_refunds') }} as refunds
        on
            claims.profile_key = refunds.profile_key
            and claims.payment_ref = refunds.payment_ref
            and claims.currency = refunds.currency
    where claims.refunded > 0
    group by claims.profile_key, claims.payment_ref, claims.currency
),

ranked as (
    select
        claims.*,
        people.person_key,
        min(case when claims.conversion_type <> 'payment_received' then claims.conversion_type end) over (
            partition by claims.profile_key, claims.payment_ref
        ) as custom_type,
        row_number() over (
            partition by claims.profile_key, claims.payment_ref
            order by
                -- What an order cost in all is not what one of its payments was.
                case when claims.is_total_of_parts then 1 else 0 end,
                claims.source_rank,
                case when claims.is_captured then 0 else 1 end,
                claims.ts,
                claims.claim_key
        ) as value_turn,
        row_number() over (
            partition by claims.profile_key, claims.payment_ref
            order by
                case when people.person_key is null then 1 else 0 end,
                claims.source_rank,
                case when claims.is_captured then 0 else 1 end,
                claims.ts,
                claims.claim_key
        ) as person_turn
    from {{ ref('int_payment_claims') }} as claims
    left join {{ ref('int_identity_keys') }} as people
        on
            claims.profile_key = people.profile_key
            and claims.identity_key = people.identity_key
)

select
    best.profile_key,
    best.payment_ref,
    coalesce(best.custom_type, 'payment_received') as conversion_type,
    coalesce(payers.person_key, known.person_key) as person_key,
    best.ts,
    best.value,
    best.currency,
    cast(least(
        coalesce(refunds.refunded, 0) + coalesce(totals.only_in_total, 0), 99999999999999
    ) as decimal(18, 4)) as refunded,
    coalesce(refunds.by_hand, 0) as by_hand,
    cast(coalesce(totals.only_in_total, 0) as decimal(18, 4)) as only_in_total
from ranked as best
inner join ranked as known
    on best.profile_key = known.profile_key and best.payment_ref = known.payment_ref
left join {{ ref('int_refunds') }} as refunds
    on
        best.profile_key = refunds.profile_key
        and best.payment_ref = refunds.payment_ref
        and best.currency = refunds.currency
left join totals
    on
        best.source_rank <> 1
        and best.profile_key = totals.profile_key
        and best.payment_ref = totals.payment_ref
        and best.currency = totals.currency
left join {{ ref('int_payment_payers') }} as payers
    on best.profile_key = payers.profile_key and best.payment_ref = payers.payment_ref
where best.value_turn = 1 and known.person_turn = 1 and best.is_captured
