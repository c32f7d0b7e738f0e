{{ compared(['profile_key', 'payment_ref', 'currency', 'refunded', 'by_hand', 'refunded_on']) }}

with told as (
    select
        refs.profile_key,
        refs.payment_ref,
        refunds.currency,
        max(cast(refunds.occurred_at as date)) as refunded_on,
        sum(case when refunds.refund_kind = 'manual' then 0 else refunds.value end) as told_by_source,
        sum(case when refunds.refund_kind = 'manual' or refs.ref = refs.payment_ref then 0 else refunds.value end)
            as of_order,
        sum(case when refunds.refund_kind = 'manual' then refunds.value else 0 end) as by_hand
    from {{ ref('stg_app__conversions') }} as refunds
    inner join {{ ref('int_profiles') }} as profiles on refunds.profile_id = profiles.profile_id
    inner join {{ ref('int_payment_refs') }} as refs
        on profiles.profile_key = refs.profile_key and refunds.refunds_payment_ref = refs.ref
    where
        refunds.conversion_type = 'refund_issued'
        and coalesce(refunds.payment_status, 'captured') = 'captured'
    group by refs.profile_key, refs.payment_ref, refunds.currency, refunds.source
)

select
    profile_key,
    payment_ref,
    currency,
    -- Two sources tell of the same money, as of payments; only what is entered by hand comes on top. Held to what the
    -- type can hold: nonsense refunds of one profile must not end everybody's build.
    cast(least(max(told_by_source) + sum(by_hand), 99999999999999) as decimal(18, 4)) as refunded,
    cast(least(sum(by_hand), 99999999999999) as decimal(18, 4)) as by_hand,
    cast(least(max(of_order), 99999999999999) as decimal(18, 4)) as of_order,
    max(refunded_on) as refunded_on
from told
group by profile_key, payment_ref, currency
