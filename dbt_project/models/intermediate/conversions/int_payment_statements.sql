{{ config(materialized='view') }}

-- Ids that several stores of a profile have given.
with shared as (
    select profile_id as owner_id, order_id as shared_id, min(connection_ref) as first_store
    from {{ ref('stg_store__orders') }}
    group by profile_id, order_id
    having min(connection_ref) <> max(connection_ref)
),

told as (
    select distinct
        profile_id as owner_id,
        payment_ref as told_ref
    from {{ ref('int_events') }}
    where revenue_type = 'cash'
),

orders as (
    select
        orders.*,
        -- of an order taken over as paid elsewhere nothing was received here
        case
            when orders.financial_status <> 'paid' and orders.paid_total > 0 and orders.paid_total < orders.total
                then orders.paid_total
            else orders.total
        end as worth,
        shared.first_store,
        told.told_ref is not null as is_told
    from {{ ref('stg_store__orders') }} as orders
    left join shared on orders.profile_id = shared.owner_id and orders.order_id = shared.shared_id
    left join told on orders.profile_id = told.owner_id and orders.payment_ref = told.told_ref
)

select
    profile_id,
    {{ touch_keys()['stg_app__conversions'] }} as claim_key,
    conversion_type,
    case when payment_ref not like 'order:%' then payment_ref end as own_ref,
    payment_ref not like 'order:%' as is_told,
    coalesce(order_ref, case when payment_ref like 'order:%' then substr(payment_ref, 7) end) as order_ref,
    cast(null as {{ dbt.type_string() }}) as connection_ref,
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
    coalesce(payment_status, 'captured') = 'failed' as is_failed,
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
    is_told,
    order_ref,
    connection_ref,
    -- the first keeps the short name, which a profile of one store has had all along
    'store:' || case when first_store < connection_ref then connection_ref || ':' else '' end || order_id as store_ref,
    3 as source_rank,
    true as is_captured,
    false as is_failed,
    {{ epoch_seconds('coalesce(processed_at, created_at)') }} as ts,
    worth as value,
    currency,
    coalesce(refunded_total, case when financial_status = 'refunded' then worth else 0 end) as refunded,
    identity_key
from orders
where financial_status in ('paid', 'partially_paid', 'partially_refunded', 'refunded')
