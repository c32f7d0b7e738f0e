{{ compared(['profile_key', 'payment_ref', 'currency', 'refunded', 'by_hand']) }}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

refs as (
    select * from {{ ref('int_payment_refs') }}
)

select
    refs.profile_key,
    refs.payment_ref,
    refunds.currency,
    -- Held to what the type can hold: nonsense refunds of one profile must not end everybody's build.
    cast(least(sum(refunds.value), 99999999999999) as decimal(18, 4)) as refunded,
    cast(
        least(sum(case when refunds.refund_kind = 'manual' then refunds.value else 0 end), 99999999999999)
        as decimal(18, 4)
    ) as by_hand
from {{ ref('stg_app__conversions') }} as refunds
inner join profiles on refunds.profile_id = profiles.profile_id
inner join refs
    on
        profiles.profile_key = refs.profile_key
        and refunds.refunds_payment_ref = refs.ref
where
    refunds.conversion_type = 'refund_issued'
    and coalesce(refunds.payment_status, 'captured') = 'captured'
group by refs.profile_key, refs.payment_ref, refunds.currency
