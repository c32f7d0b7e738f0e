{{ compared(['profile_key', 'payment_ref', 'claim_key', 'source_rank']) }}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

claims as (
    select
        profile_id,
        {{ touch_keys()['stg_app__conversions'] }} as claim_key,
        conversion_type,
        case when payment_ref not like 'order:%' then payment_ref end as own_ref,
        coalesce(order_ref, case when payment_ref like 'order:%' then substr(payment_ref, 7) end) as order_ref,
        cast(null as {{ dbt.type_string() }}) as store_ref,
        case source
            when 'payments' then 1
            when 'store' then 2
            when 'server_event' then 4
            when 'crm' then 5
            when 'chat' then 6
            when 'tracker' then 7
            else 8
        end as source_rank,
        coalesce(payment_status, 'captured') = 'captured' as is_captured,
        occurred_s as ts,
        value,
        currency,
        cast(0 as decimal(18, 4)) as refunded,
        identity_key
    from {{ ref('int_events') }}
    where revenue_type = 'cash'

    union all

    select
        profile_id,
        {{ touch_keys()['stg_store__orders'] }} as claim_key,
        'payment_received' as conversion_type,
        payment_ref as own_ref,
        order_ref,
        'store:' || order_id as store_ref,
        3 as source_rank,
        true as is_captured,
        {{ epoch_seconds('coalesce(processed_at, created_at)') }} as ts,
        total as value,
        currency,
        coalesce(refunded_total, 0) as refunded,
        identity_key
    from {{ ref('stg_store__orders') }}
    where financial_status in ('paid', 'partially_paid', 'partially_refunded', 'refunded')
),

-- What is known of an order over all its claims: the payment that names itself, one that was captured before an attempt
-- that was not, and whether anyone but the store spoke.
orders as (
    select
        profile_id,
        order_ref,
        coalesce(min(case when is_captured then own_ref end), min(own_ref)) as own_ref,
        min(source_rank) <> 3 or max(source_rank) <> 3 as has_payment_source
    from claims
    where order_ref is not null
    group by profile_id, order_ref
)

select
    profiles.profile_key,
    coalesce(
        claims.own_ref,
        orders.own_ref,
        case when orders.has_payment_source then 'order:' || claims.order_ref end,
        claims.store_ref
    ) as payment_ref,
    claims.claim_key,
    claims.conversion_type,
    claims.order_ref,
    claims.store_ref,
    claims.source_rank,
    claims.is_captured,
    claims.ts,
    claims.value,
    claims.currency,
    claims.refunded,
    claims.identity_key
from claims
inner join profiles on claims.profile_id = profiles.profile_id
left join orders
    on
        claims.profile_id = orders.profile_id
        and claims.order_ref = orders.order_ref
