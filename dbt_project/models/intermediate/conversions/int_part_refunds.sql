with claims as (
    select * from {{ ref('int_payment_claims') }}
    where parts_of is not null
),

totals as (
    select
        profile_key,
        parts_of,
        currency,
        max(refunded) as total
    from claims
    group by profile_key, parts_of, currency
),

members as (
    select distinct profile_key, parts_of, payment_ref from claims
),

told as (
    select
        members.profile_key,
        members.parts_of,
        members.payment_ref,
        payments.currency,
        payments.value,
        payments.source_rank = 1 as is_processed,
        -- Rows in another currency may tell of what the total has: they are set against it where both are of one part.
        count(case when refunds.currency <> payments.currency and refunds.refunded > refunds.by_hand then 1 end) > 0
            as is_told_abroad,
        sum(case when refunds.currency = payments.currency then refunds.refunded else 0 end) as refunded,
        sum(case when refunds.currency = payments.currency then refunds.by_hand else 0 end) as by_hand,
        sum(case when refunds.currency = payments.currency then refunds.of_order else 0 end) as of_order
    from members
    inner join {{ ref('int_payment_values') }} as payments
        on members.profile_key = payments.profile_key and members.payment_ref = payments.payment_ref
    left join {{ ref('int_refunds') }} as refunds
        on payments.profile_key = refunds.profile_key and payments.payment_ref = refunds.payment_ref
    group by
        members.profile_key, members.parts_of, members.payment_ref, payments.currency, payments.value,
        payments.source_rank
),

-- Of an order: what its total has beyond the rows of its parts, for parts of which no processor tells, and what rows
-- that name the order take beyond the part that they lower.
orders as (
    select
        told.*,
        greatest(told.value - told.refunded, 0) as room,
        least(greatest(told.refunded - told.value, 0), told.of_order) as beyond,
        least(
            greatest(totals.total - sum(told.refunded - told.by_hand) over parts, 0),
            sum(case when told.is_processed then 0 else greatest(told.value - told.refunded, 0) end) over parts
        ) as in_total
    from told
    inner join totals
        on told.profile_key = totals.profile_key and told.parts_of = totals.parts_of and told.currency = totals.currency
    window parts as (partition by told.profile_key, told.parts_of, told.currency)
),

queued as (
    select
        *,
        in_total + sum(beyond) over parts as owed,
        (sum(room) over parts) - in_total as room_beyond,
        (sum(room) over turns) - room as room_before,
        (sum(beyond) over turns) - beyond as beyond_before
    from orders
    window
        parts as (partition by profile_key, parts_of, currency),
        turns as (
            partition by profile_key, parts_of, currency
            order by
                case when is_processed then 1 else 0 end,
                case when is_told_abroad then 0 else 1 end,
                case when payment_ref = parts_of then 0 else 1 end,
                payment_ref
        )
)

select
    profile_key,
    payment_ref,
    cast(max(greatest(least(owed - room_before, room), 0)) as decimal(18, 4)) as of_order,
    cast(max(greatest(least(room_beyond - beyond_before, beyond), 0)) as decimal(18, 4)) as passed_on
from queued
where (owed > room_before and room > 0) or (room_beyond > beyond_before and beyond > 0)
group by profile_key, payment_ref
