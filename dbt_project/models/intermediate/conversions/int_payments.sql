{{ compared([
    'profile_key', 'payment_ref', 'conversion_type', 'person_key', 'is_shared', 'ts', 'value', 'currency',
    'refunded', 'only_in_total'
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
    where claims.refunded > 0 and claims.parts_of is null
    group by claims.profile_key, claims.payment_ref, claims.currency
)

select
    payments.profile_key,
    payments.payment_ref,
    payments.conversion_type,
    payments.person_key,
    payments.is_shared,
    payments.ts,
    payments.value,
    payments.currency,
    cast(least(
        coalesce(refunds.refunded, 0) - coalesce(parts.passed_on, 0)
        + coalesce(parts.of_order, totals.only_in_total, 0),
        99999999999999
    ) as decimal(18, 4)) as refunded,
    coalesce(refunds.by_hand, 0) as by_hand,
    cast(coalesce(parts.of_order, totals.only_in_total, 0) as decimal(18, 4)) as only_in_total
from {{ ref('int_payment_values') }} as payments
left join {{ ref('int_refunds') }} as refunds
    on
        payments.profile_key = refunds.profile_key
        and payments.payment_ref = refunds.payment_ref
        and payments.currency = refunds.currency
left join totals
    on
        payments.source_rank <> 1
        and payments.profile_key = totals.profile_key
        and payments.payment_ref = totals.payment_ref
        and payments.currency = totals.currency
left join {{ ref('int_part_refunds') }} as parts
    on
        payments.profile_key = parts.profile_key
        and payments.payment_ref = parts.payment_ref
